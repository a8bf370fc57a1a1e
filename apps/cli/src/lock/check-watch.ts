// Changes of locked stacks as they happen.
import { createPlatform, type RegistryChange } from "@svc/client"
import type { Api } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { CliError } from "../errors.ts"
import { plain } from "../output/table.ts"

const lineOf = ({
  at,
  stack,
  kind,
  version,
  previous_version,
  verdict,
  message,
  successor,
}: RegistryChange): string => {
  const was = previous_version === undefined ? "" : ` (was ${previous_version})`
  const instead = successor === undefined ? "" : `; its successor: ${successor}`
  return plain(`${at} ${stack} ${kind}, version ${version}${was}: ${verdict}${message ? `. ${message}` : ""}${instead}`)
}

/**
 * Prints a line for each change of these stacks until the user interrupts.
 * @param after the id of the last change that is known
 * @param failsOnBreaking whether the first breaking change ends it with breaking-change
 */
export const watchLocked = async (
  context: Context,
  api: Api,
  names: ReadonlySet<string>,
  { after, failsOnBreaking }: { readonly after: number; readonly failsOnBreaking: boolean },
): Promise<Outcome | undefined> => {
  const platform = createPlatform({ apiUrl: api.url, ...(api.key !== undefined && { key: api.key }) })
  const leaving = new AbortController()
  const undo = context.onInterrupt(() => leaving.abort())
  try {
    for await (const change of platform.registry.changes({ after, signal: leaving.signal })) {
      if (!names.has(change.stack)) continue
      const isRead = context.write(`${context.flags.has("json") ? JSON.stringify(change) : lineOf(change)}\n`)
      if (change.verdict === "breaking" && failsOnBreaking) {
        const next = `Next: svc check, change the code, then svc lock ${change.stack}`
        throw new CliError("breaking-change", `${plain(change.stack)} changed so that its readers break.`, { next })
      }
      if (!isRead) break
    }
  } finally {
    undo()
  }
  return undefined
}
