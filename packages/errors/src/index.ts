export { ApiError, defineErrors, explanationOf, withStatus } from "./errors.ts"
export type { ErrorRow } from "./errors.ts"
export { BodyError } from "./body-error.ts"
export type { BodyFault } from "./body-error.ts"
