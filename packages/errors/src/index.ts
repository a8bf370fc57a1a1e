export { ApiError, defineErrors } from "./errors.ts"
export type { ErrorCatalog, ErrorOptions, ErrorRow } from "./errors.ts"
