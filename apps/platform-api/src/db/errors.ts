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

/** Whether the server or the system reported the error. A wait that was given up has no code. */
export const hasCode = (error: unknown): boolean => codeOf(error) !== undefined

/** An error with a code, as the system reports one. */
export const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** Whether an error, told as `explain` tells it, says that nothing can be written: a full disk, a failing one, a stand-by. */
export const refusesToStore = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable && ["53100", "58030", "25006"].includes(codeOf(error.cause) ?? "")

/** The name of the constraint that a statement broke, when that is what the error says. */
export const brokenConstraint = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || codeOf(error)?.startsWith("23") !== true) return undefined
  // The two drivers name the field differently.
  const name = "constraint_name" in error ? error.constraint_name : "constraint" in error ? error.constraint : undefined
  return typeof name === "string" ? name : undefined
}

// SQLSTATE classes that are about the server, not the statement: connection, authorisation, rollback, resources, operator
// intervention, system, and a stand-by that only reads. Also a prepared statement that a migration has made stale.
const serverState = /^((08|25|26|28|3D|40|53|55|57|58|F0|XX)...|0A000)$/
const connection = /^(E|CONNECTION_)[A-Z]+$/

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
 * Tells an outage from a fault: an error of the connection or the server becomes DatabaseUnavailable, every other one stays.
 * The ORM's wrapper is removed in any case, because its message contains the statement's parameters.
 */
export const explain = (error: unknown): unknown => {
  const bare = error instanceof orm.DrizzleQueryError ? (error.cause ?? new Error("a statement failed")) : error
  const code = codeOf(bare) ?? ""
  return serverState.test(code) || connection.test(code) ? unavailable(bare) : bare
}
