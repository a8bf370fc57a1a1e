import { z } from "zod"
import { onCode } from "../../errors.ts"
import { readChanges, readEntry, registryName } from "../../explore/stack.ts"
import { type Api, platformOf } from "../../services/api.ts"
import { apiForReading } from "../../settings/key.ts"
import { ToolError } from "@svc/mcp"
import { fitting } from "../result.ts"
import { defineTool, readOnly, within } from "../tool.ts"

/** Changes in one response of the registry. */
const limit = 100

/** Why a stack may have no changes: none has the name. */
const whyNone = async (api: Api, stack: string | undefined): Promise<string | undefined> => {
  const isThere = stack === undefined || (await readEntry(api, stack).catch(onCode("stack-not-found", () => undefined)))
  return isThere === undefined ? `No stack is named ${stack} now: list_stacks has the names.` : undefined
}

const beginAgain =
  "What changed since it was given out can't be told: call list_stacks, then list_changes without after, and pass its next as after."
const howToWait = "Pass next as after, and timeout_seconds to wait for a change."

export const changeTools = [
  defineTool({
    name: "list_changes",
    description:
      "Learn what changed in the registry: stacks published, rolled back, deprecated, withdrawn, with the effect on readers. Pass next as after; timeout_seconds waits for the first later change.",
    input: {
      after: z.int().min(0).optional(),
      stack: z.string().optional(),
      timeout_seconds: z.int().min(1).max(300).optional(),
    },
    output: {
      changes: z.array(
        z.object({
          id: z.number(),
          at: z.string(),
          stack: z.string(),
          kind: z.string(),
          version: z.number().optional(),
          verdict: z.string().optional(),
          message: z.string().optional(),
          successor: z.string().optional(),
        }),
      ),
      next: z.number(),
      truncated: z.boolean().optional(),
      timed_out: z.boolean().optional(),
      hint: z.string().optional(),
    },
    annotations: readOnly,
    run: async (call, { after, stack: given, timeout_seconds: seconds }) => {
      const { context, progress } = call
      const api = await apiForReading(context())
      const stack = given === undefined ? undefined : registryName(given)
      const asked = { limit, ...(after !== undefined && { after }), ...(stack !== undefined && { stack }) }
      const answer = await readChanges(api, asked).catch(
        onCode("invalid-request", (error): never => {
          if (after === undefined) throw error
          throw new ToolError("invalid-cursor", "after was never given out, or is too old.", beginAgain)
        }),
      )
      const { kept, truncated } = fitting(answer.changes)
      const next = (truncated ? kept.at(-1)?.id : undefined) ?? answer.next
      if (seconds === undefined || (after !== undefined && kept.length > 0)) {
        const hint = kept.length === 0 ? ((await whyNone(api, stack)) ?? howToWait) : undefined
        return { changes: kept, next, truncated: truncated || kept.length === limit || undefined, hint }
      }
      progress("waiting for a change")
      const change = await within(call, seconds, async (signal) => {
        const from = { after: next, signal, ...(stack !== undefined && { stack }) }
        for await (const first of platformOf(api).registry.changes(from)) return first
        return undefined
      })
      if (change !== undefined) return { changes: [change], next: change.id }
      return { changes: [], next, timed_out: true, hint: await whyNone(api, stack) }
    },
  }),
]
