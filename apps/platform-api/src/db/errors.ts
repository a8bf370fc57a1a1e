import { orm } from "./drizzle.ts"

/** The database can't be used now: it is away, silent, overloaded or shutting down. Asking again later may work. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable"
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** The name of the constraint that a statement broke, when that is what the error says. */
export const brokenConstraint = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || codeOf(error)?.startsWith("23") !== true) return undefined
  const name = "constraint_name" in error ? error.constraint_name : "constraint" in error ? error.constraint : undefined
  return typeof name === "string" ? name : undefined
}

// SQLSTATE classes that speak of the server, not of the statement: connection, authorisation, rollback, resources,
// operator intervention, system, plus a server that only reads because it is a stand-by.
const serverState = /^(08|25|28|3D|40|53|55|57|58|F0|XX)...$/
const connection = /^(E[A-Z]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+)$/

// What the operator needs: which address, role or setting it is. It stands on one line, and holds no password.
const tell = (error: unknown, code: string): string => {
  const text = error instanceof Error ? error.message.replace(/\s+/g, " ").trim() : ""
  const what = text.includes(code) ? text : `${text} (${code})`
  return `the database can't be used: ${what.trim()}`
}

/**
 * Tells an outage from a fault: what the driver says of the connection or the server becomes DatabaseUnavailable, all else
 * stays. The ORM's wrapper goes in any case, because its message holds the statement's parameters.
 */
export const explain = (error: unknown): unknown => {
  const bare = error instanceof orm.DrizzleQueryError ? (error.cause ?? new Error("a statement failed")) : error
  const code = codeOf(bare)
  if (code === undefined || !(serverState.test(code) || connection.test(code))) return bare
  return new DatabaseUnavailable(tell(bare, code), { cause: bare })
}
