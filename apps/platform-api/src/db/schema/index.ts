// The tables. Only triggers and functions are in migrations/ alone.
export * from "./accounts.ts"
export { bumps, verdicts, visibilities } from "./columns.ts"
export * from "./records.ts"
export * from "./registry.ts"
export * from "./work.ts"
