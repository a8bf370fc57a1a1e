// Columns that many tables have.
import { pg } from "../drizzle.ts"

export const bytea = pg.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" })

// Responses show milliseconds. Nothing finer is stored, so a stored time equals what a response said.
export const time = (name: string) => pg.timestamp(name, { withTimezone: true, precision: 3, mode: "date" })

export const id = () => pg.integer().primaryKey().generatedAlwaysAsIdentity()

export const visibilities = ["public", "global", "private"] as const
export const verdicts = ["none", "compatible", "breaking"] as const
export const bumps = ["none", "patch", "minor", "major"] as const
