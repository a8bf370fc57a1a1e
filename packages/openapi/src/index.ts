export { createApi, documented, openApiDocument } from "./api.ts"
export type { DocumentInfo, DocumentedRoute } from "./api.ts"
export { errorResponses } from "./error-responses.ts"
export { z } from "@hono/zod-openapi"
