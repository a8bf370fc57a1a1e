import { ConfigError, SetupError } from "@svc/config"
import { OpenDataFolder } from "../data-folder.ts"
import { DatabaseUnavailable, OutcomeUnknown, stepFor } from "../db/errors.ts"
import { FolderInUse } from "../db/embedded/folder-lock.ts"
import { DocumentFault } from "../registry/ast/document-fault.ts"
import { CommandError } from "./command-error.ts"

/** The step after a server didn't respond. */
export const unreachable = "Start the server, or correct host and port in DATABASE_URL."

/** What stops the start of the service, with the setting and the next step where they are known. */
export const setupFault = (error: unknown, databaseUrl: string): unknown => {
  if (!(error instanceof Error) || error instanceof SetupError) return error
  const { code, next } = stepFor(error)
  const inFolder = databaseUrl === "" || (/^E[A-Z]+$/.test(code) && !(error instanceof DatabaseUnavailable))
  if (error instanceof FolderInUse)
    return new SetupError(error.message, "SVC_DATA_DIR", "Stop that process first.", error)
  if (error instanceof OpenDataFolder)
    return new SetupError(error.message, "SVC_DATA_DIR", "Set its mode to 0700.", error)
  if (next === undefined && !(error instanceof DatabaseUnavailable)) return error
  return new SetupError(error.message, inFolder ? "SVC_DATA_DIR" : "DATABASE_URL", next ?? unreachable, error)
}

// `migrate` and `restore` need the owner, every other command its grants.
const wrongRole = "Use the role that owns the tables, or one to which it has granted infra/database-roles.sql."

const stepAfterOutage = (error: DatabaseUnavailable): string => {
  const { code, next = unreachable } = stepFor(error)
  return code === "42501" ? wrongRole : next
}

/** What the operator sees of a failure: `{error, code}`, and the place in the file. */
export const failureOf = (error: unknown): Readonly<Record<string, unknown>> => {
  if (error instanceof CommandError) return { error: error.message, code: error.code }
  if (error instanceof DocumentFault) {
    return { error: error.message, code: "invalid-ast", details: { path: error.path, reason: error.reason } }
  }
  if (error instanceof FolderInUse) {
    const advice = "a running service uses the embedded database: stop it first"
    return { error: `${error.message}; ${advice}`, code: "data-folder-in-use" }
  }
  if (error instanceof DatabaseUnavailable)
    return { error: `${error.message}: ${stepAfterOutage(error)}`, code: "service-unavailable" }
  if (error instanceof OutcomeUnknown) {
    return { error: `${error.message}: check whether it was done before you repeat it`, code: "outcome-unknown" }
  }
  if (error instanceof ConfigError || error instanceof OpenDataFolder)
    return { error: error.message, code: "invalid-settings" }
  if (error instanceof SetupError) return { error: `${error.message}: ${error.next}`, code: "invalid-settings" }
  const { next } = stepFor(error)
  if (next !== undefined) return { error: `${(error as Error).message}: ${next}`, code: "invalid-settings" }
  return { error: error instanceof Error ? error.message : String(error), code: "internal-error" }
}
