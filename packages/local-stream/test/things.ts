// A stack of the tests' own, and what happens to it.
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
