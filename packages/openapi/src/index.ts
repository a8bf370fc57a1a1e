export { accessSchema, createApi, documented, openApiDocument } from "./api.ts"
export type { Access, DocumentedRoute } from "./api.ts"
export { errorResponses } from "./error-responses.ts"
export { z } from "@hono/zod-openapi"
