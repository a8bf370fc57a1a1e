import { ConfigError } from "@svc/config"
import { OpenDataFolder } from "../data-folder.ts"
import { DatabaseUnavailable, OutcomeUnknown } from "../db/errors.ts"
import { FolderInUse } from "../db/embedded/folder-lock.ts"
import { DocumentFault } from "../registry/ast/document-fault.ts"
import { CommandError } from "./command-error.ts"

/** What the operator sees of a failure: `{error, code}`, and the place in the file. */
export const failureOf = (error: unknown): Readonly<Record<string, unknown>> => {
  if (error instanceof CommandError) {
    const { message, code, details } = error
    return { error: message, code, ...(details === undefined ? {} : { details }) }
  }
  if (error instanceof DocumentFault) {
    return { error: error.message, code: "invalid-ast", details: { path: error.path, reason: error.reason } }
  }
  if (error instanceof FolderInUse) {
    const advice = "a running service uses the embedded database: stop it first"
    return { error: `${error.message}; ${advice}`, code: "data-folder-in-use" }
  }
  if (error instanceof DatabaseUnavailable) return { error: error.message, code: "service-unavailable" }
  if (error instanceof OutcomeUnknown) {
    return { error: `${error.message}: check whether it was done before you repeat it`, code: "outcome-unknown" }
  }
  if (error instanceof ConfigError || error instanceof OpenDataFolder)
    return { error: error.message, code: "invalid-settings" }
  return { error: error instanceof Error ? error.message : String(error), code: "internal-error" }
}
