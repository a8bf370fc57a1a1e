import { orm } from "./drizzle.ts"

/** The database can't be used now: it is away, silent, overloaded or shutting down. Asking again later may work. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable"
}

/** The answer to a transaction's COMMIT never came: it may have been committed, and only looking can tell. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown"

  constructor(cause: unknown) {
    const reason = cause instanceof Error ? `: ${oneLine(cause.message)}` : ""
    super(`the database gave no answer to a commit${reason}`, { cause })
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** Whether the server or the system said what is wrong; a wait that was given up has no code. */
export const hasCode = (error: unknown): boolean => codeOf(error) !== undefined

/**
 * Whether the server refuses a prepared statement before doing anything of it: a migration has changed what it gives, or a
 * pooler has put another server process behind the connection.
 */
export const isStale = (error: unknown): boolean => ["0A000", "26000"].includes(codeOf(error) ?? "")

/** Whether an error, told as `explain` tells it, says that nothing can be written: a full disk, a failing one, a stand-by. */
export const refusesToStore = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable && ["53100", "58030", "25006"].includes(codeOf(error.cause) ?? "")

/** The name of the constraint that a statement broke, when that is what the error says. */
export const brokenConstraint = (error: unknown): string | undefined => {
  if (codeOf(error)?.startsWith("23") !== true) return undefined
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string"
    ? error.constraint
    : undefined
}

// SQLSTATE classes that speak of the server, not of the statement: connection, authorisation, rollback, resources,
// operator intervention, system, plus a server that only reads because it is a stand-by.
const serverState = /^(08|25|28|3D|40|53|55|57|58|F0|XX)...$/
const connection = /^E[A-Z]+$/

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

/** An outage, in words for the operator: which address, role or setting it is. They hold no password. */
export const unavailable = (error: unknown): DatabaseUnavailable => {
  const code = codeOf(error)
  // A name with several addresses fails with an error for each.
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  const text = oneLine(parts.map((part) => (part instanceof Error ? part.message : "")).join(", "))
  const what = code === undefined || text.includes(code) ? text : `${text} (${code})`
  return new DatabaseUnavailable(`the database can't be used: ${what.trim()}`, { cause: error })
}

/**
 * Tells an outage from a fault: what the driver says of the connection or the server becomes DatabaseUnavailable, all else
 * stays. The ORM's wrapper goes in any case, because its message holds the statement's parameters.
 * @param lost whether the connection broke, which the driver says in a plain Error
 */
export const explain = (error: unknown, lost = false): unknown => {
  const bare = error instanceof orm.DrizzleQueryError ? (error.cause ?? new Error("a statement failed")) : error
  const code = codeOf(bare)
  if (code === undefined) return lost && bare instanceof Error && bare.constructor === Error ? unavailable(bare) : bare
  return serverState.test(code) || connection.test(code) ? unavailable(bare) : bare
}
