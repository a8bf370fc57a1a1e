export { ApiError, defineErrors } from "./errors.ts"
export type { ErrorCatalog, ErrorRow } from "./errors.ts"
