export { ApiError, defineErrors, withStatus } from "./errors.ts"
export type { ErrorCatalog, ErrorRow } from "./errors.ts"
