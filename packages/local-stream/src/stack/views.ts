// Chooses and orders the records that a view shows.
import { type AstEntity, pathIn, type Variant } from "./ast.ts"
import type { Records, StreamRecord } from "./records.ts"
import { compare, keyOf, supported, Unsupported, type Value, valueAt } from "./value.ts"

type Sort = { readonly field: readonly string[]; readonly order: "asc" | "desc" }
type Step = (records: readonly StreamRecord[]) => readonly StreamRecord[]

export type View = {
  readonly id: string
  readonly mode: "state" | "list"
  readonly steps: readonly Step[]
  readonly sort?: Sort
  /** Of a keyed view: the field whose value is the key. */
  readonly keyField?: readonly string[]
  /** Shows one record: a subscription needs its key. */
  readonly needsKey?: true
  /** What it uses that isn't supported. */
  readonly unsupported?: string
}

/** A record in a view, with its key there. */
export type Row = { readonly key: string; readonly record: StreamRecord }

const fieldOf = ({ values, shown }: StreamRecord, path: readonly string[]): Value =>
  values.get(path.join(".")) ?? valueAt(shown, path)

const sorted = ({ field, order }: Sort): Step => {
  const sign = order === "desc" ? -1 : 1
  return (records) =>
    records
      .map((record) => ({ record, value: fieldOf(record, field) }))
      .sort((a, b) => sign * compare(a.value, b.value) || compare(a.record.key, b.record.key))
      .map(({ record }) => record)
}

const slice =
  (start: number, end?: number): Step =>
  (records) =>
    records.slice(start, end)

const sortOf = (step: Variant, order: unknown = step.content["order"]): Sort => ({
  field: pathIn(step, "key"),
  order: order === "desc" ? "desc" : "asc",
})

const compileStep = (step: Variant): readonly Step[] => {
  const count = Number(step.content["count"])
  switch (step.kind) {
    case "Sort":
      return [sorted(sortOf(step))]
    case "Take":
      return [slice(0, count)]
    case "Skip":
      return [slice(count)]
    case "First":
      return [slice(0, 1)]
    case "Last":
      return [slice(-1)]
    case "MaxBy":
    case "MinBy": {
      const sort = sortOf(step, step.kind === "MaxBy" ? "desc" : "asc")
      return [(records) => records.filter((one) => fieldOf(one, sort.field) !== null), sorted(sort), slice(0, 1)]
    }
    default:
      throw new Unsupported(step.kind)
  }
}

/** Compiles the views of an entity: `list`, `state`, and those that its AST defines. */
export const compileViews = (
  { state_name, views }: AstEntity,
  report: (id: string, uses: string) => void,
): readonly View[] => [
  { id: `${state_name}/list`, mode: "list", steps: [] },
  { id: `${state_name}/state`, mode: "state", steps: [], needsKey: true },
  ...views.map(({ id, source, pipeline, output }): View => {
    const mode = output.kind === "Collection" ? "list" : "state"
    let unsupported = ""
    const note = (uses: string): void => report(id, (unsupported = uses))
    const [view] = supported(note, (): View => {
      if (source !== undefined && source.kind !== "Entity") throw new Unsupported("a view of a view")
      const sort = pipeline.find(({ kind }) => kind === "Sort")
      const keyed = output.kind === "Keyed" && { keyField: pathIn(output, "key_field") }
      return { id, mode, steps: pipeline.flatMap(compileStep), ...(sort && { sort: sortOf(sort) }), ...keyed }
    })
    return view ?? { id, mode, steps: [], unsupported }
  }),
]

/** The rows of a view, in its order, else the most recently changed first. A keyed view keeps the newest record of each key. */
export const rowsOf = ({ steps, keyField }: View, records: Records): readonly Row[] => {
  const list = steps.reduce<readonly StreamRecord[]>((before, step) => step(before), records.newest())
  if (keyField === undefined) return list.map((record) => ({ key: record.key, record }))
  const seen = new Set<string>()
  return list.flatMap((record): Row[] => {
    const key = keyOf(fieldOf(record, keyField))
    return key === undefined || seen.has(key) || !seen.add(key) ? [] : [{ key, record }]
  })
}
