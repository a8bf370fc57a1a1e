import fc from "fast-check"
import { expect, test } from "vitest"
import { createStack } from "../src/stack/stack.ts"
import { toJson, type Value } from "../src/stack/value.ts"
import { naiveRecords, naiveView, thingAst, type Touch, updateOf } from "./naive.ts"

const numRuns = process.env["SVC_FUZZ"] === "full" ? 20_000 : 75

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
const window = fc.record({
  view: fc.constantFrom(...views),
  key: fc.option(fc.constantFrom("a", "b", "x"), { nil: undefined }),
  skip: fc.constantFrom(0, 0, 1),
  take: fc.constantFrom(undefined, 1, 2),
})
type Window = typeof window extends fc.Arbitrary<infer W> ? W : never

type Action =
  | { readonly do: "apply"; readonly updates: readonly Touch[] }
  | { readonly do: "subscribe"; readonly client: number; readonly window: Window }
  | { readonly do: "drop" | "resume"; readonly client: number }
const client = fc.nat(2)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("apply" as const), updates: fc.array(touch, { maxLength: 4 }) }),
  },
  fc.record({ do: fc.constant("subscribe" as const), client, window }),
  fc.record({ do: fc.constantFrom("drop" as const, "resume" as const), client }),
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

/** A client that keeps what it is sent, and what it was sent before its connection was lost. */
const createClient = (stack: ReturnType<typeof createStack>, { view: id, key, skip, take }: Window) => {
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

test("after any updates, subscribes, drops and resumes each client has the result of all updates", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
      const stack = createStack(thingAst, { name: "things", version: 1 }, "epoch")
      expect(stack.plan.unsupported).toEqual([])
      const clients = new Map<number, { window: Window; client: ReturnType<typeof createClient> }>()
      const updates: Touch[] = []
      for (const step of actions) {
        if (step.do === "apply") {
          stack.apply(step.updates.map((update, index) => updateOf(update, updates.length + index)))
          updates.push(...step.updates)
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
        const rows = naiveRecords(updates)
        expect(stack.counts()).toEqual({ Thing: rows.length })
        for (const {
          window: { view, key, skip, take },
          client: one,
        } of clients.values()) {
          if (!one.connected()) continue
          const expected = naiveView(view, rows, {
            skip,
            ...(key !== undefined && { key }),
            ...(take !== undefined && { take }),
          })
          expect(Object.fromEntries(one.records()), view).toEqual(
            JSON.parse(JSON.stringify(Object.fromEntries(expected))),
          )
        }
      }
    }),
    { numRuns },
  )
}, 1_800_000)

test("of 10,000 kept records the least recently changed goes first, and comes back as a new one", () => {
  const stack = createStack(thingAst, { name: "things", version: 1 }, "epoch")
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
