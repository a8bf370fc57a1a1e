// A stack of the test's own, and a second implementation of what it means: everything is worked out anew from all updates.
import type { Update } from "../src/stack/plan.ts"
import type { Value } from "../src/stack/value.ts"
import { embedded, field, from, handler, lookup, path, set } from "./ast.ts"

const given = from("data.amount")
const comparison = { Comparison: { field: path("data.amount"), op: "GreaterThan", value: 50 } }
const view = (id: string, pipeline: unknown[], output: unknown = "Collection") => ({ id, pipeline, output })
const bySum = { key: path("n.sum") }
const program = "Prog"

export const thingAst = {
  idls: [
    {
      name: "p",
      program_id: program,
      accounts: [{ name: "Badge", fields: [] }],
      instructions: ["touch", "mark"].map((name) => ({ name, accounts: [], args: [] })),
    },
  ],
  entities: [
    {
      state_name: "Thing",
      identity: { primary_keys: ["id.key"], lookup_indexes: [{ field_name: "id.owner" }] },
      handlers: [
        handler("p::TouchIxState", embedded("data.key"), [
          set("id.key", "SetOnce", from("data.key")),
          set("id.owner", "LastWrite", from("data.owner")),
          set("n.sum", "Sum", given),
          set("n.count", "Count", given),
          set("n.min", "Min", given),
          set("n.max", "Max", given),
          set("n.unique", "UniqueCount", given),
          set("n.large", "Count", given, { condition: { parsed: comparison } }),
          set("first", "SetOnce", from("data.any")),
          set("last", "LastWrite", from("data.any")),
          set("log", "Append", from("data.any")),
          set("hidden", "LastWrite", { FromContext: { field: "slot" } }),
        ]),
        handler(
          "p::MarkIxState",
          lookup("data.owner"),
          [set("marks", "Count", given)],
          [{ field: path("data.amount"), operator: "NotEquals", value: 0 }],
        ),
        handler("p::BadgeState", lookup("data.owner"), [set("badge", "LastWrite", given)]),
      ],
      sections: [
        { name: "id", fields: [field("key", "String"), field("owner", "Option < String >")] },
        {
          name: "n",
          fields: [
            field("sum", "Option < u64 >"),
            ...["count", "min", "max", "unique", "large"].map((name) => field(name, "Option < u32 >")),
            field("double", "Option < f64 >"),
          ],
        },
        {
          name: "root",
          fields: [
            ...["first", "last"].map((name) => field(name, "Option < Value >")),
            field("log", "Option < Vec < Value > >"),
            field("hidden", "u64", false),
            field("marks", "Option < u32 >"),
            field("badge", "Option < u32 >"),
          ],
        },
      ],
      computed_field_specs: [
        {
          target_path: "n.double",
          expression: {
            Binary: {
              op: "Mul",
              left: { Cast: { expr: { FieldRef: { path: "n.sum" } }, to_type: "f64" } },
              right: { Literal: { value: 2 } },
            },
          },
        },
      ],
      views: [
        view("Thing/top", [{ Sort: { ...bySum, order: "desc" } }, { Take: { count: 3 } }]),
        view("Thing/rest", [{ Sort: { ...bySum, order: "asc" } }, { Skip: { count: 1 } }]),
        view("Thing/most", [{ MaxBy: bySum }], "Single"),
        view("Thing/least", [{ MinBy: bySum }], "Single"),
        view("Thing/by-owner", [], { Keyed: { key_field: path("id.owner") } }),
      ],
    },
  ],
}

export type Touch = {
  readonly kind: "touch" | "mark" | "badge"
  readonly key: string
  readonly owner: string | null
  readonly amount: number
  /** Any JSON. */
  readonly any: Value
}

/** The update as it would be decoded from a chain. */
export const updateOf = ({ kind, ...data }: Touch, slot: number): Update => ({
  program,
  kind: kind === "badge" ? "account" : "instruction",
  name: kind === "badge" ? "Badge" : kind,
  value: { data },
  context: { signature: `s${slot}`, slot: BigInt(slot), timestamp: null },
})

type Thing = { readonly touches: Touch[]; marks: number; badge: number | null; changed: number }

/** The records that these updates make, the most recently changed first. */
export const naiveRecords = (updates: readonly Touch[]) => {
  const things = new Map<string, Thing>()
  let clock = 0
  const ownerOf = (thing: Thing | undefined) => thing?.touches.at(-1)?.owner ?? null
  for (const [index, update] of updates.entries()) {
    const { kind, key, owner, amount } = update
    if (kind === "touch") {
      const thing = things.get(key) ?? { touches: [], marks: 0, badge: null, changed: 0 }
      const before = things.has(key) ? ownerOf(thing) : undefined
      thing.touches.push(update)
      thing.changed = ++clock
      // The key is an index of its own, and the first.
      const found = [before === undefined ? key : null, owner === before || owner === key ? null : owner]
      for (const text of found.filter((one) => one !== null && one !== "")) {
        const last = updates.slice(0, index).findLast((one) => one.kind === "badge" && one.owner === text)
        if (last !== undefined) thing.badge = last.amount
      }
      things.set(key, thing)
      continue
    }
    if (owner === null || owner === "") continue
    for (const [own, thing] of [...things].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (ownerOf(thing) !== owner && own !== owner) continue
      if (kind === "mark" && amount !== 0) thing.marks++
      if (kind === "mark" ? amount !== 0 : thing.badge !== amount) thing.changed = ++clock
      if (kind === "badge") thing.badge = amount
    }
  }
  const rows = [...things].sort(([, a], [, b]) => b.changed - a.changed)
  return rows.map(([key, { touches, marks, badge }]) => {
    const amounts = touches.map(({ amount }) => amount)
    const sum = amounts.reduce((total, amount) => total + amount, 0)
    const anys = touches.map(({ any }) => any).filter((any) => any !== null)
    const large = amounts.filter((amount) => amount > 50).length
    return {
      key,
      sum,
      owner: touches.at(-1)?.owner ?? null,
      data: {
        id: { key, owner: touches.at(-1)?.owner ?? null },
        n: {
          sum: String(sum),
          count: touches.length,
          min: Math.min(...amounts),
          max: Math.max(...amounts),
          unique: new Set(amounts).size,
          large: large === 0 ? null : large,
          double: 2 * sum,
        },
        first: anys[0] ?? null,
        last: touches.at(-1)?.any ?? null,
        log: anys.length === 0 ? null : anys,
        marks: marks === 0 ? null : marks,
        badge,
      },
    }
  })
}

type Row = ReturnType<typeof naiveRecords>[number]

/** What a window on a view shows, as key and data. */
export const naiveView = (
  id: string,
  rows: readonly Row[],
  { key, skip = 0, take = Infinity }: { key?: string; skip?: number; take?: number },
) => {
  const sorted = (sign: number) =>
    rows
      .toSorted((a, b) => sign * (a.sum - b.sum) || (a.key < b.key ? -1 : 1))
      .map(({ key: own, data }) => [own, data] as const)
  const all = (): (readonly [string, unknown])[] => {
    switch (id) {
      case "Thing/top":
        return sorted(-1).slice(0, 3)
      case "Thing/rest":
        return sorted(1).slice(1)
      case "Thing/most":
        return sorted(-1).slice(0, 1)
      case "Thing/least":
        return sorted(1).slice(0, 1)
      case "Thing/by-owner": {
        const owned = rows.filter(({ owner }) => owner !== null && owner !== "")
        const newest = owned.filter((row, index) => owned.findIndex(({ owner }) => owner === row.owner) === index)
        return newest.map(({ owner, data }) => [owner ?? "", data] as const)
      }
      default:
        return rows.map(({ key: own, data }) => [own, data] as const)
    }
  }
  return all()
    .filter(([own]) => key === undefined || own === key)
    .slice(skip, skip + take)
}
