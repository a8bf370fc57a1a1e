// drizzle-orm's CommonJS build loads much faster than its ESM build and needs far less memory.
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

export const pg = require("drizzle-orm/pg-core") as typeof import("drizzle-orm/pg-core")
export const { unionAll } = pg
export const orm = require("drizzle-orm") as typeof import("drizzle-orm")
export const { and, asc, count, desc, eq, exists, gt, gte, inArray, isNotNull, isNull, lt, lte, ne, or, sql } = orm
export const { readMigrationFiles } = require("drizzle-orm/migrator") as typeof import("drizzle-orm/migrator")

// A process uses only one of the two drivers.
export const loadServerDriver = () => require("drizzle-orm/postgres-js") as typeof import("drizzle-orm/postgres-js")
export const loadEmbeddedDriver = () => require("drizzle-orm/pglite") as typeof import("drizzle-orm/pglite")
