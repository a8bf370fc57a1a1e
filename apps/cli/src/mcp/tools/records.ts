import { type Condition, SvcError } from "@svc/client"
import { inOrder, valueAt } from "@svc/client/records"
import { operators } from "@svc/client/where"
import { parseJson } from "@svc/common/json-object"
import { ToolError } from "@svc/mcp"
import { z } from "zod"
import { openView } from "../../stream/view.ts"
import { checkField, filterFor, type Step } from "../following.ts"
import { fitting, plainJson } from "../result.ts"
import { type Call, defineTool, readOnly, within } from "../tool.ts"
import { keptPart } from "./stacks.ts"

const scalars = [z.string(), z.number(), z.boolean(), z.null()] as const
const selection = {
  stack: z.string(),
  view: z.string().optional(),
  key: z.string().optional(),
  where: z
    .array(
      z.strictObject({
        field: z.string(),
        op: z.enum(operators),
        value: z.union([...scalars, z.array(z.union(scalars))]),
      }),
    )
    .optional(),
}
type Selection = z.output<z.ZodObject<typeof selection>>

/** Some frameworks write the list of `in` as JSON text. */
const withList = ({ value: given, ...condition }: Condition): Condition => {
  const read = condition.op === "in" && typeof given === "string" ? parseJson(given) : given
  return { ...condition, value: Array.isArray(read) ? read : given }
}

const open = async (
  { context, following }: Pick<Call, "context" | "following">,
  { stack, view, key, where }: Selection,
) => {
  const opened = await openView(context(), stack, view)
  const matches = filterFor(opened, where?.map(withList))
  return { ...opened, matches, followed: following.follow(opened, key) }
}

/** The same records with these fields only, by their paths. Throws field-not-found for one that the view lacks. */
const projection = ({ view, schema }: Parameters<typeof checkField>[0], fields: readonly string[] = []) => {
  if (fields.length === 0) return (record: unknown) => record
  const paths = schema.entities.find(({ name }) => name === view.split("/")[0])?.fields.map(({ path }) => path) ?? []
  // A part of a path stands for all fields below it, and a type's own members may be unknown here.
  const isAround = (field: string, path: string) => path.startsWith(`${field}.`) || field.startsWith(`${path}.`)
  for (const field of fields) {
    if (!paths.some((path) => isAround(field, path))) checkField({ view, schema }, field)
  }
  return (record: unknown) =>
    Object.fromEntries(fields.map((field) => [field, valueAt(record, field.split(".")) ?? null]))
}

const asJson = ({ changes, next }: Step) => ({ changes: changes.map(plainJson), next })
const withoutRecords = ({ changes, next }: Step) => ({
  changes: changes.map((change) => ({ ...change, record: undefined })),
  next,
})

/** Less than the minute after which clients give up a call. */
const readSeconds = 50
const isTooLarge = (error: unknown): boolean =>
  error instanceof SvcError && (error.code === "snapshot-limit-exceeded" || error.code === "snapshot-too-large")

/** Why a result has no records, and what to do; an empty text for one that has some. */
const whyEmpty = (view: string, { key, where }: Selection, count: number, all: number): string => {
  if (count > 0) return ""
  if (all > 0 && where !== undefined) return `None of its ${all} records fulfils where; without where you see them.`
  if (key === undefined) return `${view} has no records now: wait_for_change waits for the first.`
  const bare =
    key.trim() === key ? "" : ` key has white space around it: pass ${JSON.stringify(key.trim())} if that isn't meant.`
  return `${view} has no record with this key now.${bare} key is a value of the view's key_field, which describe_stack names.`
}

const forTheRest = "For more, sort by a field that differs in each record, and pass its last value in where (gt or lt)."
const neverLive =
  "The stream has sent no records yet, so a later call can't tell what changes until then: call again with a longer timeout_seconds. list_stacks shows which stacks have data now."
const leftOut =
  "A record that is larger than a result is left out: call read_view with its key, and fields with the few paths that you need."
const notLive =
  "The stream isn't connected now, so its last changes aren't known yet: call again with next as after, which reports them. list_stacks shows which stacks have data now."

export const recordTools = [
  defineTool({
    name: "read_view",
    description:
      "Read the records that a view has now: those that fulfil where, sorted, the first limit of them. u64 are decimal strings and compare exactly. Name fields (paths) to save tokens. Default view: the stack's own first, which may keep few records.",
    input: {
      ...selection,
      sort: z.strictObject({ field: z.string(), order: z.enum(["asc", "desc"]).default("asc") }).optional(),
      fields: z.array(z.string()).optional(),
      limit: z.int().min(1).max(100).default(20),
    },
    output: {
      view: z.string(),
      records: z.array(z.object({ key: z.string(), record: z.unknown() })),
      next: z.string().optional().meta({ description: "after of wait_for_change" }),
      truncated: z.boolean().optional(),
      hint: z.string().optional(),
    },
    annotations: readOnly,
    run: async (call, { fields, limit, sort, ...given }) => {
      const { stream, view, schema, matches, followed } = await open(call, given)
      const shown = projection({ view, schema }, fields)
      if (sort !== undefined) checkField({ view, schema }, sort.field)
      // The library and a token bound what a view may send; its first records can be read all the same.
      const firstRecords = async (error: unknown, signal: AbortSignal) => {
        if (!isTooLarge(error) || given.where !== undefined || sort !== undefined) throw error
        const { key } = given
        for await (const { records } of stream.watch(view, { ...(key && { key }), take: limit + 1, signal }))
          return { records, next: undefined }
        return undefined
      }
      const read = await within(call, readSeconds, (signal) =>
        followed.now(signal).catch((error: unknown) => firstRecords(error, signal)),
      )
      // The client has cancelled the call.
      if (call.signal.aborted) return { view, records: [], truncated: true }
      if (read === undefined) {
        const hint = "Call the tool again later; list_stacks shows which stacks have data now."
        throw new ToolError("unreachable", `The stream sent no records of ${view} within ${readSeconds} s.`, hint)
      }
      const found = new Map([...read.records].filter(([, record]) => matches(record)))
      const ordered = sort === undefined ? found : inOrder(found, { field: sort.field.split("."), order: sort.order })
      const wanted = [...ordered].slice(0, limit).map(([key, record]) => ({ key, record: plainJson(shown(record)) }))
      const { kept, truncated } = fitting(wanted)
      if (kept.length === 0 && truncated) {
        throw new ToolError(
          "record-too-large",
          "A record is larger than a result.",
          "Pass fields with the few paths that you need; describe_stack lists them.",
        )
      }
      const isAll = !truncated && found.size <= limit
      const part = schema.entities.flatMap(({ views }) => views.filter(({ id }) => id === view).map(keptPart)).join("")
      const more = isAll
        ? whyEmpty(view, given, found.size, read.records.size)
        : truncated
          ? `Name fewer fields, or narrow where. ${forTheRest}`
          : limit < 100
            ? "Raise limit (100 at most), narrow where, or pass key."
            : forTheRest
      const hint = `${more} ${part}`.trim()
      return { view, records: kept, next: read.next, ...(!isAll && { truncated: true }), ...(hint !== "" && { hint }) }
    },
  }),
  defineTool({
    name: "wait_for_change",
    description:
      "Wait until a record that fulfils where is added, changes, or goes away, instead of polling read_view. With after (next of the last call, or of read_view) it returns at once what has changed since: nothing is lost between calls.",
    input: {
      ...selection,
      after: z.string().optional(),
      timeout_seconds: z.int().min(1).max(300).default(45),
    },
    output: {
      view: z.string(),
      changes: z.array(
        z.object({
          op: z.enum(["upsert", "delete"]),
          key: z.string(),
          record: z.unknown().optional(),
          removed: z.string().optional(),
        }),
      ),
      next: z.string().optional(),
      truncated: z.boolean().optional(),
      timed_out: z.boolean().optional(),
      hint: z.string().optional(),
    },
    annotations: readOnly,
    run: async (call, { timeout_seconds: seconds, after, ...given }) => {
      const { view, matches, followed } = await open(call, given)
      const found = await within(call, seconds, async (signal) => {
        const from = after ?? (await followed.now(signal))?.next
        if (from === undefined) return undefined
        call.progress(`watching ${view}`)
        return followed.changes(from, matches, signal)
      })
      const { seen = [], next = after } = found ?? {}
      const { kept, truncated } = fitting(seen.map(asJson))
      const isTooLong = seen.length > 0 && kept.length === 0
      const shown = isTooLong ? seen.slice(0, 1).map(withoutRecords) : kept
      const waited = seen.length === 0 && !followed.isLive() ? notLive : undefined
      return {
        view,
        changes: shown.flatMap(({ changes }) => changes),
        next: truncated ? shown.at(-1)?.next : next,
        truncated: shown.length < seen.length || undefined,
        timed_out: seen.length === 0 || undefined,
        hint: next === undefined ? neverLive : isTooLong ? leftOut : waited,
      }
    },
  }),
]
