import { z } from "zod"
import { queryOf } from "../../explore/stack.ts"
import { listOf, textOf } from "../../output/json-value.ts"
import { callJson } from "../../services/api.ts"
import { platformOf } from "../../services/relay.ts"
import { apiForReading } from "../../settings/key.ts"
import { fitting } from "../result.ts"
import { defineTool, readOnly, within } from "../tool.ts"

/** Changes in one response of the registry. */
const page = "100"

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
    },
    annotations: readOnly,
    run: async (call, { after, stack, timeout_seconds: seconds }) => {
      const { context, progress } = call
      const api = await apiForReading(context())
      const query = queryOf({
        limit: page,
        after: after === undefined ? undefined : String(after),
        stack: stack === undefined ? undefined : encodeURIComponent(stack),
      })
      const answer = await callJson(api, `/api/registry/changes${query}`)
      const { kept, truncated } = fitting(listOf(answer, "changes"))
      const next = Number(truncated ? textOf(kept.at(-1), "id") : textOf(answer, "next"))
      if (seconds === undefined || (after !== undefined && kept.length > 0)) {
        return { changes: kept, next, truncated: truncated || kept.length === Number(page) || undefined }
      }
      progress("waiting for a change")
      const change = await within(call, seconds, async (signal) => {
        const from = { after: next, signal, ...(stack !== undefined && { stack }) }
        for await (const first of platformOf(api).registry.changes(from)) return first
        return undefined
      })
      return change === undefined ? { changes: [], next, timed_out: true } : { changes: [change], next: change.id }
    },
  }),
]
