import { orm } from "./database.ts"

/** The database can't be used now: it is unreachable, unresponsive, overloaded or shutting down. A retry may work. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable"
}

/** COMMIT got no response. The transaction may be committed; only a look at the data can tell. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown"

  constructor(cause: unknown) {
    const reason = cause instanceof Error ? `: ${oneLine(cause.message)}` : ""
    super(`the database didn't respond to a commit${reason}`, { cause })
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** Whether the server or the system reported the error. A timeout has no code. */
export const hasCode = (error: unknown): boolean => codeOf(error) !== undefined

/** An error with a code, like the system's. */
export const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** The step after a pooler was found that shares connections between transactions. */
export const pooling = "Set the pooler's pool_mode to session, or let DATABASE_URL lead to PostgreSQL itself."
/** The step after the role of DATABASE_URL was found without rights. */
export const grant =
  "Set DATABASE_URL to the role svc_service, after the tables' owner has run infra/database-roles.sql."
const wrongRole =
  "Correct the role in DATABASE_URL, or the server's pg_hba.conf. If it accepts TLS alone, add ?sslmode=require to DATABASE_URL."
const wrongPassword =
  "Correct role and password in DATABASE_URL, or the server's pg_hba.conf. An expired password needs a later date: alter role … valid until."
const unknownAuthority =
  "Set sslrootcert in DATABASE_URL to the file with the root certificate of the authority that signed the server's."
const noName =
  "Correct the host name in DATABASE_URL, or this machine's name server. A user or password has / as %2F, @ as %40, # as %23."
const noFolder = "Set SVC_DATA_DIR to a folder that can be written to."
const full = "Free some space on the disk."
/** The operator's next step after an outage, by its SQLSTATE or the system's code. */
const steps: Readonly<Record<string, string>> = {
  "25006": "Set DATABASE_URL to the primary server, and to a role that may write.",
  "26000": pooling,
  "28000": wrongRole,
  "28P01": wrongPassword,
  "3D000": "Create the database, or correct its name in DATABASE_URL.",
  "42501": grant,
  "42P05": pooling,
  "53100": full,
  "53300": "Raise max_connections of the server, or end connections of other programs.",
  "55000": "Let the database accept connections: alter database … allow_connections true.",
  "57014":
    "Reset a short statement_timeout of the role and the database (alter role … reset statement_timeout), or find what keeps the server busy.",
  "57P03": "Wait until the server has started or recovered.",
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  EACCES: "Make the folder the service's own: chown, mode 0700.",
  EDQUOT: full,
  EAI_AGAIN: noName,
  ENOTFOUND: noName,
  ENOSPC: full,
  ENOTDIR: noFolder,
  ENOTSUP: "Switch on the server's TLS (ssl = on), or take sslmode out of DATABASE_URL.",
  EROFS: noFolder,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
}

// The server's function tells whose limit was reached. Its message may be in any language.
const ownLimits: Readonly<Record<string, string>> = { InitializeSessionUserId: "role", CheckMyDatabase: "database" }

/** The operator's next step after an error of the database, if its code tells. */
export const stepFor = (error: unknown): { readonly code: string; readonly next: string | undefined } => {
  const { cause } = Object(error)
  const code = codeOf(error) ?? codeOf(cause) ?? ""
  const subject = code === "53300" ? ownLimits[Object(cause ?? error).routine] : undefined
  const raise = subject && `Raise its limit (alter ${subject} … connection limit): each replica uses 11 connections.`
  return { code, next: raise ?? steps[code] }
}

const outageCode = (error: unknown): string =>
  (error instanceof DatabaseUnavailable ? codeOf(error.cause) : undefined) ?? ""

/** Whether an error from `explain` says that the session can only read: this is a standby, or was one when it began. */
export const canOnlyRead = (error: unknown): boolean => outageCode(error) === "25006"

/**
 * Whether an error from `explain` says that nothing can be written: the disk is full or failing, this is a standby, or the role
 * has no rights.
 */
export const refusesToStore = (error: unknown): boolean =>
  ["53100", "58030", "25006", "42501"].includes(outageCode(error))

/** The name of the violated constraint, if that is the error. */
export const brokenConstraint = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || codeOf(error)?.startsWith("23") !== true) return undefined
  // The two drivers use different names for the field.
  const name = "constraint_name" in error ? error.constraint_name : "constraint" in error ? error.constraint : undefined
  return typeof name === "string" ? name : undefined
}

// SQLSTATE classes that concern the server rather than the statement: connection, authorization, rollback, resources,
// operator intervention, system errors and a read-only standby. Also a prepared statement that a migration made stale, and a
// role without rights.
const serverState = /^((08|25|26|28|3D|40|53|55|57|58|F0|XX)...|0A000|42501)$/
const connection = /^(E|CONNECTION_)[A-Z]+$/

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

/** Describes an outage for the operator: the address, role or setting. It contains no password. */
export const unavailable = (error: unknown): DatabaseUnavailable => {
  const code = codeOf(error)
  // A name with several addresses has one error for each.
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  const text = oneLine(parts.map((part) => (part instanceof Error ? part.message : "")).join(", "))
  const what = code === undefined || text.includes(code) ? text : `${text} (${code})`
  return new DatabaseUnavailable(`the database can't be used: ${what.trim()}`, { cause: error })
}

/**
 * Separates outages from bugs: an error of the connection or the server becomes DatabaseUnavailable; others stay. The
 * ORM's wrapper is removed, because its message contains the statement's parameters.
 */
export const explain = (error: unknown): unknown => {
  const bare = error instanceof orm.DrizzleQueryError ? (error.cause ?? new Error("a statement failed")) : error
  const code = codeOf(bare) ?? ""
  return serverState.test(code) || connection.test(code) ? unavailable(bare) : bare
}
