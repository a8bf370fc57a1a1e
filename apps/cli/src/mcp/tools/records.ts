import { type Condition, type StackSchema, SvcError } from "@svc/client"
import { isObject, parseJson } from "@svc/common/json-object"
import { z } from "zod"
import { CliError } from "../../errors.ts"
import { createLater, openView } from "../../stream/view.ts"
import { fitting, plainJson } from "../result.ts"
import { type Call, defineTool, readOnly, within } from "../tool.ts"

const value = z.union([z.string(), z.number(), z.boolean(), z.null()])
const selection = {
  stack: z.string(),
  view: z.string().optional(),
  key: z.string().optional(),
  where: z
    .array(
      z.object({
        field: z.string(),
        op: z.enum(["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains"]),
        value: z.union([value, z.array(value)]),
      }),
    )
    .optional(),
}

/** Some frameworks write the list of `in` as JSON text. */
const withList = ({ value: given, ...condition }: Condition): Condition => {
  const read = condition.op === "in" && typeof given === "string" ? parseJson(given) : given
  return { ...condition, value: Array.isArray(read) ? read : given }
}

const open = async (
  { context }: Pick<Call, "context">,
  { stack, view, key, where }: z.output<z.ZodObject<typeof selection>>,
) => ({
  ...(await openView(context(), stack, view)),
  chosen: { ...(key !== undefined && { key }), ...(where !== undefined && { where: where.map(withList) }) },
})

/** The same records with these fields only, by their paths. Throws field-not-found for one that the view lacks. */
const projection = (view: string, schema: StackSchema, fields: readonly string[] | undefined) => {
  if (fields === undefined) return (record: unknown) => record
  const paths = schema.entities.find(({ name }) => name === view.split("/")[0])?.fields.map(({ path }) => path) ?? []
  const isKnown = (field: string) =>
    paths.some((path) => path === field || field.startsWith(`${path}.`) || path.startsWith(`${field}.`))
  const lacking = fields.find((field) => !isKnown(field))
  if (lacking !== undefined) {
    throw new SvcError({
      status: 0,
      code: "field-not-found",
      message: `${view} has no field ${JSON.stringify(lacking)}.`,
      hint: `Its fields: ${paths.slice(0, 100).join(", ")}.`,
    })
  }
  const valueAt = (record: unknown, field: string): unknown =>
    field.split(".").reduce((at: unknown, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : null), record)
  return (record: unknown) => Object.fromEntries(fields.map((field) => [field, valueAt(record, field)]))
}

/** Less than the minute after which clients give up a call. */
const readSeconds = 50

export const recordTools = [
  defineTool({
    name: "read_view",
    description:
      "Read the records that a view has now. where compares integers exactly, whatever their width; u64 are decimal strings. Name fields (paths) to save tokens. Default view: the stack's first.",
    input: {
      ...selection,
      fields: z.array(z.string()).optional(),
      limit: z.int().min(1).max(100).default(20),
    },
    output: {
      view: z.string(),
      records: z.array(z.object({ key: z.string(), record: z.unknown() })),
      truncated: z.boolean().optional(),
      hint: z.string().optional(),
    },
    annotations: readOnly,
    run: async (call, { fields, limit, ...given }) => {
      const { stream, view, schema, chosen } = await open(call, given)
      const shown = projection(view, schema, fields)
      // With a filter, the first records may all be others.
      const take = given.where === undefined ? { take: limit + 1 } : {}
      const read = await within(call, readSeconds, async (signal) => {
        for await (const { records } of stream.watch(view, { ...chosen, ...take, signal })) {
          const wanted = [...records]
            .slice(0, limit)
            .map(([key, record]) => ({ key, record: plainJson(shown(record)) }))
          const { kept, truncated } = fitting(wanted)
          if (kept.length === 0 && truncated) {
            throw new CliError("record-too-large", "A record is larger than a result.", { next: "Name fewer fields." })
          }
          const isAll = !truncated && records.size <= limit
          const hint = "Name fields, narrow where, pass key, or raise limit (100 at most)."
          return { view, records: kept, ...(!isAll && { truncated: true, hint }) }
        }
        return undefined
      })
      if (read !== undefined) return read
      // The client has cancelled the call.
      if (call.signal.aborted) return { view, records: [], truncated: true }
      throw new CliError("unreachable", `The stream sent no records of ${view} within ${readSeconds} s.`, {
        next: "Check key, then call again; describe_stack shows the stream's websocket_url.",
      })
    },
  }),
  defineTool({
    name: "wait_for_change",
    description:
      "Wait until a record that fulfils where is added, changes, or goes away, instead of polling read_view. Returns the first change, or timed_out: true; then call again.",
    input: { ...selection, timeout_seconds: z.int().min(1).max(300).default(45) },
    output: {
      view: z.string(),
      op: z.string().optional(),
      key: z.string().optional(),
      record: z.unknown().optional(),
      removed: z.string().optional(),
      timed_out: z.boolean().optional(),
    },
    annotations: readOnly,
    run: async (call, { timeout_seconds: seconds, ...given }) => {
      const { stream, view, chosen } = await open(call, given)
      const changesIn = createLater()
      const changed = await within(call, seconds, async (signal) => {
        for await (const step of stream.watch(view, { ...chosen, signal })) {
          call.progress(`watching ${view}`)
          const [change] = changesIn(step).map(plainJson)
          if (!isObject(change)) continue
          const { kept } = fitting([change])
          const { record: _record, ...short } = change
          return { view, ...(kept[0] ?? short) }
        }
        return undefined
      })
      return changed ?? { view, timed_out: true }
    },
  }),
]
