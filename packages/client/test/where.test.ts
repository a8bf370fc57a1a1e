import fc from "fast-check"
import { expect, test } from "vitest"
import type { StackSchema } from "../src/generated/answers.ts"
import { asSvcError, ownError, SvcError } from "../src/http/error.ts"
import type { Change } from "../src/stream/stream-records.ts"
import type { Watched } from "../src/stream/stream-watch.ts"
import { type Condition, filtered, operators } from "../src/stream/where.ts"

const errors = { asSvcError, ownError, SvcError }
const view = "Trade/list"
const schema: StackSchema = {
  stack_name: "Trades",
  types: [
    { name: "Terms", kind: "struct", fields: [{ name: "price", type: "Price" }] },
    { name: "Price", kind: "struct", fields: [{ name: "value", type: "u64" }] },
    { name: "Side", kind: "enum", variants: ["Buy", "Sell"] },
  ],
  entities: [
    {
      name: "Trade",
      primary_keys: ["id.address"],
      fields: [
        ["id.address", "String"],
        ["amount.lamports", "u64"],
        ["terms.last", "Option<trade_sdk::types::Terms>"],
        ["terms.side", "Side"],
        ["terms.ratio", "Option < f64 >"],
        ["terms.open", "bool"],
        ["terms.owner", "solana_pubkey::Pubkey"],
      ].map(([path = "", rust_type = ""]) => ({ path, rust_type, nullable: true, section: "" })),
      views: [{ id: view, mode: "list", needs_key: false, key_field: null, sort: null, pipeline: [] }],
    },
  ],
}

async function* of<T>(...steps: readonly Watched<T>[]): AsyncGenerator<Watched<T>, void, void> {
  yield* steps
}

type Options = { readonly schema?: StackSchema; readonly view?: string }

/** What the filter makes of these steps: each change, and the records after it. */
const run = async (
  steps: AsyncGenerator<Watched<unknown>, void, void>,
  where: readonly Condition[],
  options: Options = {},
) => {
  const seen: { readonly change: Change<unknown>; readonly records: readonly (readonly [string, unknown])[] }[] = []
  for await (const { change, records } of filtered(steps, { view, schema: undefined, where, errors, ...options })) {
    seen.push({ change, records: [...records] })
  }
  return seen
}

const snapshot = (...records: readonly unknown[]): Watched<unknown> => ({
  records: new Map(records.map((record, index) => [String(index), record])),
  change: { op: "snapshot" },
})

const matches = async (found: unknown, op: Condition["op"], value: unknown): Promise<boolean> => {
  const [step] = await run(of(snapshot({ a: { b: found } })), [{ field: "a.b", op, value }])
  return step?.records.length === 1
}

// An integer as a stream or a caller writes it: whatever its width, it is the same number.
const asIs = (value: bigint): string | number =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value)
const written = (value: bigint) => fc.constantFrom<unknown>(String(value), value, asIs(value))
const whole = fc.oneof(
  fc.bigInt({ min: -5n, max: 5n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n }),
  fc.bigInt({ min: -(2n ** 127n), max: 2n ** 128n }),
)

/** Two integers that are often the same or next to each other. */
const pairs = fc
  .tuple(whole, fc.constantFrom(0n, 0n, 1n, -1n, 10n ** 19n))
  .map(([one, more]) => [one, one + more] as const)

const plain: { readonly [Op in Condition["op"]]?: (a: bigint, b: bigint) => boolean } & {
  readonly eq: (a: bigint, b: bigint) => boolean
} = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
}

test("integers compare as integers, whatever their width and spelling", async () => {
  const cases = pairs.chain(([a, b]) => fc.tuple(fc.constant([a, b] as const), written(a), written(b)))
  await fc.assert(
    fc.asyncProperty(cases, fc.constantFrom(...operators), async ([[a, b], found, given], op) => {
      const [left, right] = op === "contains" ? [[found], given] : [found, op === "in" ? ["x", null, given] : given]
      expect(await matches(left, op, right)).toBe((plain[op] ?? plain.eq)(a, b))
    }),
  )
})

// What a plain implementation says of two values that are not both integers.
const ordered = ["lt", "lte", "gt", "gte"] as const
const isNumeral = (text: string): boolean => /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)
const plainly = (found: unknown, op: (typeof ordered)[number] | "eq" | "ne", given: unknown): boolean => {
  const sign = ((): number | undefined => {
    if (typeof found === "number") {
      const right = typeof given === "string" && isNumeral(given) ? Number(given) : given
      return typeof right === "number" ? Math.sign(found - right) : undefined
    }
    if (typeof found === "string" && typeof given === "string") return found < given ? -1 : found > given ? 1 : 0
    if (typeof found === "boolean") return String(found) === String(given) ? 0 : undefined
    return found === given ? 0 : undefined
  })()
  if (op === "ne") return sign !== 0
  if (sign === undefined) return false
  return { eq: sign === 0, lt: sign < 0, lte: sign <= 0, gt: sign > 0, gte: sign >= 0 }[op]
}

test("texts, fractions, booleans and null compare as in a plain implementation", async () => {
  const word = fc.constantFrom("", "a", "b", "ab", "007", "1.0", "-0", "true", "null", "x1")
  const fraction = fc.constantFrom(0.5, -0.5, 1.25, 2.5)
  const found = fc.oneof(word, fraction, fc.boolean(), fc.constant(null))
  const given = fc.oneof(found, fraction.map(String))
  await fc.assert(
    fc.asyncProperty(found, given, fc.constantFrom(...ordered, "eq", "ne"), async (left, right, op) => {
      const options = [left, right].filter((value) => typeof value === "string" || typeof value === "number")
      // A text that looks like an integer counts as one; that is the other test's.
      fc.pre(!options.some((value) => /^(0|-?[1-9]\d*)$/.test(String(value))))
      expect(await matches(left, op, right)).toBe(plainly(left, op, right))
    }),
  )
  expect(await matches("a long text", "contains", "long")).toBe(true)
  expect(await matches("text 7", "contains", 7)).toBe(true)
  expect(await matches(["a", "b"], "contains", "b")).toBe(true)
  expect(await matches("12", "lt", "4.5")).toBe(false)
  expect(await matches({ long: 1 }, "contains", "long")).toBe(false)
})

test("after every step the kept records are the view's matching ones in order, and each step changes them", async () => {
  const record = fc.record({ amount: fc.record({ lamports: fc.integer({ min: 0, max: 3 }).map(String) }) })
  const key = fc.constantFrom("a", "b", "c", "d")
  const step = fc.oneof(
    fc.record({ op: fc.constant("snapshot" as const), rows: fc.array(fc.tuple(key, record)) }),
    fc.record({ op: fc.constant("upsert" as const), key, record }),
    fc.record({ op: fc.constant("delete" as const), key }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const wanted = (one: unknown): boolean => ["2", "3"].includes(Object(one).amount.lamports)
      const shown = (records: ReadonlyMap<string, unknown>) => [...records].filter(([, one]) => wanted(one))
      const expected: unknown[] = []
      async function* play(): AsyncGenerator<Watched<unknown>, void, void> {
        // One map that changes from step to step, as watch has it.
        let records = new Map<string, unknown>()
        for (const one of steps) {
          const before = shown(records)
          if (one.op === "snapshot") records = new Map(one.rows)
          else if (one.op === "delete") records.delete(one.key)
          else records = new Map([...records, [one.key, one.record] as const].toSorted(([a], [b]) => (a < b ? -1 : 1)))
          const after = shown(records)
          if (one.op === "snapshot") expected.push({ change: { op: "snapshot" }, records: after })
          else {
            const [was, is] = [before, after].map((list) => list.some(([name]) => name === one.key))
            if (is) expected.push({ change: one, records: after })
            else if (was) expected.push({ change: { op: "delete", key: one.key }, records: after })
          }
          const change: Change<unknown> = one.op === "snapshot" ? { op: one.op } : one
          yield { records, change }
        }
      }
      const where = [{ field: "amount.lamports", op: "gte", value: 2 }] as const
      expect(await run(play(), where, { schema })).toEqual(expected)
    }),
  )
})

test("a record that no longer matches and the one that left for it are two deletions", async () => {
  const two = { a: { b: 2 } }
  const last: Watched<unknown> = {
    records: new Map([["0", { a: { b: 1 } }]]),
    change: { op: "upsert", key: "0", record: { a: { b: 1 } }, removed: "1" },
  }
  const steps = await run(of(snapshot(two, two), last), [{ field: "a.b", op: "eq", value: 2 }])
  expect(steps.map(({ change }) => change)).toEqual([
    { op: "snapshot" },
    { op: "delete", key: "0" },
    { op: "delete", key: "1" },
  ])
})

const refused = (where: readonly unknown[]) =>
  run(of(snapshot()), where as readonly Condition[], { schema }).then(
    () => "accepted",
    (error: SvcError) => [error.code, error.message, error.hint],
  )

test("an unknown field is an error that lists the fields, even if the view is empty", async () => {
  const hint = "Its fields: id.address, amount.lamports, terms.last, terms.side, terms.ratio, terms.open, terms.owner."
  for (const field of ["amount", "amount.lamport", "amount.lamports.x", "terms.last.cost", "terms.side.Buy", ""]) {
    expect(await refused([{ field, op: "eq", value: 1 }])).toEqual([
      "field-not-found",
      `Trade/list has no field ${JSON.stringify(field)}`,
      hint,
    ])
  }
  for (const field of ["id.address", "terms.last", "terms.last.price", "terms.last.price.value"]) {
    expect(await refused([{ field, op: "ne", value: null }])).toBe("accepted")
  }
  // Without a schema, the records tell.
  const where: readonly Condition[] = [{ field: "constructor.name", op: "ne", value: "x" }]
  await expect(run(of(snapshot({ a: 1 })), where)).rejects.toMatchObject({
    code: "field-not-found",
    details: { fields: ["a"] },
  })
  expect(await run(of(snapshot({ a: 1 }, { b: null })), [{ field: "b", op: "eq", value: null }])).toHaveLength(1)
})

test("a condition that can't be meant is an error", async () => {
  const field = "amount.lamports"
  for (const [op, value] of [
    ["is", 1],
    ["in", "a"],
    ["eq", ["a"]],
    ["eq", { a: 1 }],
    ["eq", undefined],
    // It has lost digits already.
    ["gt", 2 ** 63],
    ["in", [1, {}]],
  ]) {
    expect((await refused([{ field, op, value }]))[0]).toBe("invalid-where")
  }
})

const owner = "So11111111111111111111111111111111111111112"

test.each([
  [
    "amount.lamports",
    "u64",
    ["5", 5, 5n, "-1", "18446744073709551616"],
    ["", "500,000,000", "+5", "0.5 SOL", "0x1d", "abc", "5.0", "1e9", " 5", 5.5, true],
  ],
  ["terms.last.price.value", "u64", ["5"], ["abc"]],
  ["terms.ratio", "Option < f64 >", ["0.5", 1e300, -1, "1e9"], ["abc", "1,5", "0x1", true]],
  ["terms.open", "bool", [true, "false"], ["yes", 1, ""]],
  ["id.address", "String", ["5", ""], [5, true]],
  ["terms.owner", "solana_pubkey::Pubkey", [owner], ["me", `${owner}0`, 5]],
  // Streams have it as a text or as an object.
  ["terms.side", "Side", ["Buy", 5, true], []],
] as const)("%s is a %s, and accepts only values of that type", async (field, type, fit, unfit) => {
  for (const value of [...fit, null]) expect(await refused([{ field, op: "eq", value }])).toBe("accepted")
  for (const value of unfit) {
    const message = `The condition on "${field}" (${type}) doesn't take ${JSON.stringify(value)}`
    const hint = expect.stringMatching(/^Pass /)
    expect(await refused([{ field, op: "eq", value }])).toEqual(["invalid-where", message, hint])
    expect(await refused([{ field, op: "in", value: [null, value] }])).toEqual(["invalid-where", message, hint])
  }
})

test("an operator that a field's type doesn't have is an error, and null has no order", async () => {
  for (const [field, op, value] of [
    ["amount.lamports", "contains", 5],
    ["amount.lamports", "gt", null],
    ["terms.ratio", "contains", "5"],
    ["terms.open", "lt", true],
  ])
    expect((await refused([{ field, op, value }]))[0]).toBe("invalid-where")
  expect(await refused([{ field: "terms.owner", op: "contains", value: "So1" }])).toBe("accepted")
})
