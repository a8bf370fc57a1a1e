import { full } from "@svc/testing"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createStack } from "../src/stack/stack.ts"
import { toJson, type Value } from "../src/stack/value.ts"
import { thingAst, type Touch, updateOf } from "./things.ts"

const numRuns = full ? 20_000 : 75

const name = fc.constantFrom("a", "b", "c", "d")
const owner = fc.constantFrom("a", "x", "y", "", null)
const any = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.constantFrom<Value>(null, 1, "t", [1], [1, 2], { v: 1 }, { v: 1, w: 2 }, { A: { v: 1 } }),
  },
  fc
    .jsonValue({ maxDepth: 2 })
    .map((value) => JSON.parse(JSON.stringify(value).replaceAll("__proto__", "proto")) as Value),
)
const touch: fc.Arbitrary<Touch> = fc.record({
  kind: fc.constantFrom("touch", "touch", "touch", "mark", "badge"),
  key: name,
  owner,
  amount: fc.nat(100),
  any,
})
const views = ["list", "state", "top", "rest", "most", "least", "by-owner"].map((view) => `Thing/${view}`)
type Window = {
  readonly view: string
  readonly key: string | undefined
  readonly skip: number
  readonly take: number | undefined
}
const window: fc.Arbitrary<Window> = fc.record({
  view: fc.constantFrom(...views),
  key: fc.option(fc.constantFrom("a", "b", "x"), { nil: undefined }),
  skip: fc.constantFrom(0, 0, 1),
  take: fc.constantFrom(undefined, 1, 2),
})

type Action =
  | { readonly do: "apply"; readonly updates: readonly Touch[] }
  | { readonly do: "subscribe"; readonly client: number; readonly window: Window }
  | { readonly do: "drop" | "resume"; readonly client: number }
const client = fc.nat(1)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("apply" as const), updates: fc.array(touch, { maxLength: 4 }) }),
  },
  fc.record({ do: fc.constant("subscribe" as const), client, window }),
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("drop" as const, "resume" as const), client }) },
)

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Merges as the protocol says it. */
const merged = (old: Json | undefined, patch: Json, append: readonly string[], at: string): Json => {
  if (Array.isArray(old) && Array.isArray(patch)) return append.includes(at) ? [...old, ...patch] : patch
  if (!isObject(old) || !isObject(patch)) return patch
  const result = { ...old }
  for (const [key, value] of Object.entries(patch)) {
    result[key] = merged(old[key], value, append, at === "" ? key : `${at}.${key}`)
  }
  return result
}

const startThings = () => createStack(thingAst, { name: "things", version: 1 }, "epoch")

/** A client that keeps what it is sent, and what it was sent before its connection was lost. */
const createClient = (stack: ReturnType<typeof startThings>, { view: id, key, skip, take }: Window) => {
  let records = new Map<string, Json>()
  let seq: string | undefined
  let leave: (() => void) | undefined
  const receive = (text: string): void => {
    const frame = JSON.parse(text)
    expect([frame.entity, typeof frame.seq]).toEqual([id, "string"])
    seq = frame.seq
    if (frame.op === "delete") records.delete(frame.key)
    else if (frame.op === "upsert") records.set(frame.key, frame.data)
    else records.set(frame.key, merged(records.get(frame.key), frame.data, frame.append ?? [], ""))
  }
  return {
    records: () => records,
    connected: () => leave !== undefined,
    connect: (): void => {
      const { view, channels } = stack.view(id) ?? {}
      if (view === undefined || channels === undefined) throw new Error(id)
      const subscription = channels.subscribe({ view, key, skip, take }, receive, seq)
      leave = subscription.leave
      for (const frame of subscription.missed ?? []) receive(frame)
      if (subscription.missed !== undefined) return
      records = new Map([...subscription.rows].map(([own, { shown }]) => [own, JSON.parse(toJson(shown))]))
    },
    drop: (): void => {
      leave?.()
      leave = undefined
    },
  }
}

/** What a window shows to a client that has just come. */
const snapshotOf = (...given: Parameters<typeof createClient>): Map<string, Json> => {
  const { connect, records } = createClient(...given)
  connect()
  return records()
}

test("after any updates, subscribes, drops and resumes each client has what one has that comes after all updates", () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 10, maxLength: 40 }), (actions) => {
      const stack = startThings()
      expect(stack.plan.unsupported).toEqual([])
      const clients = new Map<number, { window: Window; client: ReturnType<typeof createClient> }>()
      const updates: ReturnType<typeof updateOf>[] = []
      for (const step of actions) {
        if (step.do === "apply") {
          const made = step.updates.map((update, index) => updateOf(update, updates.length + index))
          stack.apply(made)
          updates.push(...made)
        } else if (step.do === "subscribe") {
          const { view, key } = step.window
          // A view of one record needs its key.
          const whole = { ...step.window, key: view === "Thing/state" ? (key ?? "a") : key }
          clients.get(step.client)?.client.drop()
          const made = { window: whole, client: createClient(stack, whole) }
          made.client.connect()
          clients.set(step.client, made)
        } else if (step.do === "drop") clients.get(step.client)?.client.drop()
        else if (clients.get(step.client)?.client.connected() === false) clients.get(step.client)?.client.connect()
        const anew = startThings()
        anew.apply(updates)
        expect(stack.counts()).toEqual(anew.counts())
        for (const { window: shown, client: one } of clients.values()) {
          if (!one.connected()) continue
          const expected = Object.fromEntries(snapshotOf(anew, shown))
          expect(Object.fromEntries(one.records()), shown.view).toEqual(expected)
        }
      }
    }),
    { numRuns },
  )
})

test("records have what their updates make: populations, lookups, conditions, a computed field, and the order of each view", () => {
  const stack = startThings()
  const of = (kind: Touch["kind"], own: string, by: string, amount: number, given: Value = null) =>
    updateOf({ kind, key: own, owner: by, amount, any: given }, 1)
  stack.apply([
    of("touch", "a", "x", 10),
    of("touch", "b", "y", 60, 1),
    of("badge", "", "x", 7),
    of("mark", "", "x", 1),
    of("mark", "", "x", 0),
    of("touch", "a", "x", 60, [1]),
    of("touch", "a", "x", 60, "t"),
    // A badge that came before the record.
    of("touch", "c", "x", 10, { v: 1 }),
  ])
  const shown = (id: string, own?: string) =>
    snapshotOf(stack, { view: `Thing/${id}`, key: own, skip: 0, take: undefined })
  const [a, b, c] = ["a", "b", "c"].map((own) => shown("state", own).get(own))
  expect(a).toEqual({
    id: { key: "a", owner: "x" },
    n: { sum: "130", count: 3, min: 10, max: 60, unique: 2, large: 2, double: 260 },
    first: [1],
    last: "t",
    log: [[1], "t"],
    marks: 1,
    badge: 7,
  })
  expect(b).toMatchObject({ n: { sum: "60", large: 1, unique: 1 }, first: 1, log: [1], marks: null, badge: null })
  expect(c).toMatchObject({ n: { large: null }, last: { v: 1 }, marks: null, badge: 7 })
  const orders = ["list", "top", "rest", "most", "least", "by-owner"].map((id) => [...shown(id).keys()].join(""))
  expect(orders).toEqual(["cab", "abc", "ba", "a", "c", "xy"])
  expect(shown("by-owner").get("x")).toEqual(c)
})

test("of 10,000 kept records the least recently changed goes first, and comes back as a new one", () => {
  const stack = startThings()
  const { view, channels } = stack.view("Thing/list") ?? {}
  if (view === undefined || channels === undefined) throw new Error("no list")
  const frames: string[] = []
  const add = (key: string) => updateOf({ kind: "touch", key, owner: null, amount: 1, any: null }, 1)
  stack.apply(Array.from({ length: 10_000 }, (_, index) => add(`k${index}`)))
  channels.subscribe({ view, key: undefined, skip: 0, take: undefined }, (frame) => frames.push(frame), undefined)
  stack.apply([add("k0"), add("new")])
  expect(stack.counts()).toEqual({ Thing: 10_000 })
  const told = frames.map((frame) => JSON.parse(frame)).map(({ op, key }) => [op, key])
  expect(told).toEqual([
    ["delete", "k1"],
    ["upsert", "new"],
    ["patch", "k0"],
  ])
  stack.apply([add("k1")])
  expect(JSON.parse(frames.at(-1) ?? "")).toMatchObject({ op: "upsert", key: "k1", data: { n: { count: 1 } } })
})
