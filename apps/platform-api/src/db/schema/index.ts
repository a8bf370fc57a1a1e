// Names, types, null and defaults of columns: what statements need. Keys, indexes and checks are only in migrations/.
export * from "./accounts.ts"
export { bumps, verdicts, visibilities } from "./columns.ts"
export * from "./records.ts"
export * from "./registry.ts"
export * from "./work.ts"
