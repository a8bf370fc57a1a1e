import fc from "fast-check"
import { expect, test } from "vitest"
import {
  type Condition,
  type ConnectionState,
  createSession,
  createStream,
  SvcError,
  type Watched,
} from "../src/index.ts"
import { type ConnectionEvent, isKeyGone, nextState } from "../src/stream/connection-state.ts"
import { createVirtualClock } from "./virtual-clock.ts"

const keyGone = new SvcError({ status: 401, code: "expired-api-key", message: "The key has expired" })
const event: fc.Arbitrary<ConnectionEvent> = fc.oneof(
  fc.constantFrom({ is: "heard" } as const, { is: "unanswered" } as const),
  fc.constantFrom(undefined, keyGone, new SvcError({ status: 503, code: "x", message: "x" })).map((error) => ({
    is: "lost" as const,
    error,
  })),
)

test("a connection is live only after a message, silent only after that, and a rejected key is final", () => {
  fc.assert(
    fc.property(fc.array(event), (events) => {
      let state: ConnectionState = { kind: "connecting" }
      for (const one of events) {
        const before = state
        state = nextState(state, one)
        if (before.kind === "key-gone") expect(state).toBe(before)
        else if (state.kind === "live") expect(one.is).toBe("heard")
        else if (state.kind === "silent")
          expect([one.is, "live silent".includes(before.kind)]).toEqual(["unanswered", true])
        else if (state.kind === "key-gone") expect(one.is === "lost" && one.error && isKeyGone(one.error)).toBe(true)
      }
    }),
  )
})

type Send = (message: object | "close") => void
type Receive = (message: { readonly type: string; readonly after?: string }, send: Send) => void
/** A stream server inside this process. @param receive what it does with a message of the client; undefined: it never opens a connection */
const serverOf = (receive: Receive | "fails" | undefined) => {
  const closed: number[] = []
  class FakeSocket extends EventTarget {
    constructor() {
      super()
      if (receive !== undefined)
        queueMicrotask(() => this.dispatchEvent(new Event(receive === "fails" ? "error" : "open")))
    }
    send(text: string): void {
      if (typeof receive !== "function") throw new DOMException("Still in CONNECTING state", "InvalidStateError")
      const send: Send = (message) => {
        const isEnd = message === "close"
        this.dispatchEvent(isEnd ? new Event("close") : new MessageEvent("message", { data: JSON.stringify(message) }))
      }
      receive(JSON.parse(text) as { type: string }, send)
    }
    close(code: number): void {
      closed.push(code)
    }
  }
  return { webSocket: FakeSocket as never, closed }
}
const token = `a.${btoa(JSON.stringify({ iat: 0, exp: 300 }))}.c`
const watching = (
  receive: Parameters<typeof serverOf>[0],
  mintSession = async () => ({ token }) as never,
  busy = () => 0,
) => {
  const { clock: idle, run } = createVirtualClock()
  const clock = { ...idle, now: () => idle.now() + busy() }
  const { webSocket, closed } = serverOf(receive)
  const websocketUrl = "wss://stream.example/a"
  const session = createSession({ platform: { mintSession }, websocketUrl, scope: "read", clock })
  const stream = createStream({ websocketUrl, session, webSocket, clock })
  const leaving = new AbortController()
  const states: string[] = []
  const steps: Watched<unknown>[] = []
  /** Watches until so many states were reported. */
  const until = (count: number, take?: number, where?: readonly Condition[]) =>
    run(
      (async () => {
        const onState = ({ kind }: ConnectionState) => {
          if (states.push(`${clock.now() / 1000} ${kind}`) === count) leaving.abort()
        }
        const options = { onState, signal: leaving.signal, take, where }
        for await (const { records, change } of stream.watch("A/latest", options))
          steps.push({ records: new Map(records), change })
      })(),
    )
  return { until, leaving, states, steps, closed, clock }
}
const frame = { mode: "list", entity: "A/latest" }
const snapshot = (...keys: string[]) => ({ ...frame, op: "snapshot", data: keys.map((key) => ({ key, data: {} })) })

test("after 10 s of silence the server gets a ping; without a response in 5 s it is silent, 15 s later it reconnects", async () => {
  let responds = 2
  const { until, states, closed } = watching(({ type }, send) => {
    if (type === "subscribe") send(snapshot())
    else if (responds-- > 0) send({ success: true, expiresAt: 300 })
  })
  await until(5)
  expect(states).toEqual(["0 connecting", "0 live", "35 silent", "50 away", "50.375 live"])
  expect(closed[0]).toBe(1000)
})

test("a server that takes a connection and never opens it is given up like a silent one, and at last reported", async () => {
  const { until, states, closed } = watching(undefined)
  await expect(until(9)).rejects.toMatchObject({ code: "network-error", retryable: true })
  expect(states).toEqual(["0 connecting", "30 away", "60.375 away", "91.125 away", "91.125 away"])
  expect(closed.slice(0, 1)).toEqual([1000])
})

test("a connection that fails without a close event, as in Node 22, is opened again at once, and at last reported", async () => {
  const { until, states } = watching("fails")
  await expect(until(9)).rejects.toMatchObject({ code: "network-error", retryable: true })
  expect(states).toEqual(["0 connecting", "0 away", "0.375 away", "1.125 away", "1.125 away"])
})

test("a server that ends each connection without the view, as after a key that is too large, is at last reported", async () => {
  const { until, states } = watching(({ type }, send) => {
    if (type === "subscribe") send("close")
  })
  const message = "wss://stream.example can't be reached, or refuses token, view or key"
  await expect(until(9)).rejects.toMatchObject({ code: "network-error", message, retryable: true })
  expect(states).toEqual(["0 connecting", "0 away", "0.375 away", "1.125 away", "1.125 away"])
})

test("a silent server that responds again is live, on the same connection", async () => {
  const { until, states, clock } = watching(({ type }, send) => {
    if (type === "subscribe") send(snapshot())
    else void clock.sleep(8000).then(() => send({ success: true, expiresAt: 300 }))
  })
  await until(4)
  expect(states).toEqual(["0 connecting", "0 live", "15 silent", "18 live"])
})

test.each([
  [60, 60],
  [1e9, 0.375],
])(
  "a stream that asks to wait %s s is asked again after %s s: nobody waits for more than an hour",
  async (asked, waited) => {
    const { until, states } = watching(({ type }, send) => {
      if (type !== "subscribe") return
      send({ type: "error", code: "rate-limit-exceeded", retryable: true, retry_after: asked, fatal: true })
      send("close")
    })
    await until(4)
    expect(states).toEqual(["0 connecting", "0 live", "0 away", `${waited} live`])
  },
)

test("after an error that may pass, fatal or not, the view is subscribed to again on another connection", async () => {
  const asked: unknown[] = []
  const busy = { type: "error", code: "service-unavailable", message: "Busy", retryable: true }
  const { until, states, closed, steps } = watching(({ type }, send) => {
    if (type !== "subscribe") return
    // This server closes nothing.
    const [fatal] = [[false], [true]][asked.push(type) - 1] ?? []
    send(fatal === undefined ? snapshot("a") : { ...busy, fatal })
  })
  await until(6)
  expect([states, closed.length > 1, steps.length]).toEqual([
    ["0 connecting", "0 live", "0 away", "0.375 live", "0.375 away", "1.125 live"],
    true,
    1,
  ])
})

test("a key that the platform no longer accepts is reported before the error that ends the watch", async () => {
  const { until, states } = watching(
    () => {},
    async () => Promise.reject(keyGone),
  )
  await expect(until(9)).rejects.toBe(keyGone)
  expect(states).toEqual(["0 connecting", "0 key-gone"])
})

test("a watch that is left while its token is fetched closes the connection that the token opens", async () => {
  const { until, leaving, closed } = watching(
    () => {},
    async () => {
      leaving.abort()
      return { token } as never
    },
  )
  await until(9)
  expect(closed).toContain(1000)
})

test.each([
  ["numbers", [10, null, "18446744073709551615", "9", -1], [null, -1, "9", 10, "18446744073709551615"]],
  ["texts", ["Ada Lovelace", "9", "Ada", null, "10", "Ada!"], [null, "10", "9", "Ada", "Ada Lovelace", "Ada!"]],
] as const)("records are in the server's order of %s", async (_, values, sorted) => {
  const data = values.map((name, key) => ({ key: String(key), data: { name } }))
  const { until, steps } = watching(({ type }, send) => {
    if (type !== "subscribe") return
    send({ op: "subscribed", view: "A/latest", mode: "list", sort: { field: ["name"], order: "asc" } })
    send({ ...snapshot(), data })
  })
  await until(3)
  expect([...(steps[0]?.records.values() ?? [])]).toEqual(sorted.map((name) => ({ name })))
})

test("a record and the one that it replaces are one change in either order; so is a removal", async () => {
  const upsert = (key: string) => ({ ...frame, op: "upsert", key, data: {} })
  const left = (key: string) => ({ ...frame, op: "delete", key, data: null })
  const { until, steps } = watching(({ type }, send) => {
    if (type !== "subscribe") return
    for (const message of [snapshot("a", "b"), left("b"), upsert("c"), upsert("d"), left("a"), upsert("d"), left("c")])
      send(message)
  })
  await until(3, 2)
  expect(steps.map(({ records, change }) => [[...records.keys()].join(""), change])).toEqual([
    ["ab", { op: "snapshot" }],
    ["ac", { op: "upsert", key: "c", record: {}, removed: "b" }],
    ["cd", { op: "upsert", key: "d", record: {}, removed: "a" }],
    ["cd", { op: "upsert", key: "d", record: {} }],
    ["d", { op: "delete", key: "c" }],
  ])
})

test("two records that leave at once are two changes, each with the records after it, with a filter too", async () => {
  const rows = ["a", "b", "c"].map((key) => ({ key, data: { n: 1 } }))
  const left = (key: string) => ({ ...frame, op: "delete", key, data: null })
  for (const where of [undefined, [{ field: "n", op: "eq", value: 1 } as const]]) {
    const { until, steps } = watching(({ type }, send) => {
      if (type === "subscribe") for (const one of [{ ...snapshot(), data: rows }, left("a"), left("b")]) send(one)
    })
    await until(3, undefined, where)
    expect(steps.map(({ records, change }) => [[...records.keys()].join(""), change])).toEqual([
      ["abc", { op: "snapshot" }],
      ["bc", { op: "delete", key: "a" }],
      ["c", { op: "delete", key: "b" }],
    ])
  }
})

test("a record that leaves and returns at once isn't the one whose place it took", async () => {
  const { until, steps } = watching(({ type }, send) => {
    if (type !== "subscribe") return
    const change = (op: string) => ({ ...frame, op, key: "a", data: {} })
    for (const message of [snapshot("a"), change("delete"), change("upsert")]) send(message)
  })
  await until(3)
  expect(steps.map(({ change }) => change)).toEqual([
    { op: "snapshot" },
    { op: "delete", key: "a" },
    { op: "upsert", key: "a", record: {} },
  ])
})

const mebibyte = "x".repeat(2 ** 20)
const row = (key: number, data: unknown = {}) => ({ key: String(key), data })
const part = (...data: object[]) => ({ ...frame, op: "snapshot", data, complete: false })
const growing = (append: readonly string[]) => ({ ...frame, op: "patch", key: "0", data: { a: [mebibyte] }, append })
/** Messages that come one after the other, so many of them. */
const floods: Readonly<Record<string, readonly [number, (index: number) => object]>> = {
  "records without end": [201, (n) => part(...Array.from({ length: 500 }, (_, at) => row(n * 500 + at)))],
  "text without end": [33, (n) => part(row(n, mebibyte))],
  "a message without end": [1, () => part(row(0, mebibyte.repeat(33)))],
  "a record that grows without end": [34, (n) => (n === 0 ? snapshot("0") : growing(["a"]))],
}
const flooded = async (count: number, message: (index: number) => object) => {
  const set = watching(({ type }, send) => {
    if (type !== "subscribe") return
    void (async () => {
      for (let index = 0; index < count; index++) {
        send(message(index))
        await set.clock.sleep(1)
      }
    })()
  })
  return set
}

test.each(Object.entries(floods))(
  "a stream that sends %s ends with snapshot-too-large",
  async (_, [count, message]) => {
    const { until } = await flooded(count, message)
    await expect(until(9)).rejects.toMatchObject({ code: "snapshot-too-large", retryable: false })
  },
)

test("a record that changes endlessly doesn't grow memory; what a slow reader misses comes on another connection", async () => {
  const changing = await flooded(100, (n) => (n === 0 ? snapshot("0") : growing([])))
  await changing.until(3)
  expect(changing.states).toEqual(["0 connecting", "0 live", "15.099 silent"])
  const { until, states, closed, steps } = watching(({ type }, send) => {
    if (type === "subscribe") for (let n = 0; n < 40; n++) send({ ...frame, op: "upsert", key: "0", data: mebibyte })
  })
  await until(4)
  expect([states.slice(2), closed[0], steps.length > 60]).toEqual([["0 away", "0.375 live"], 1000, true])
})

test("a reader that is busy with what has come gives timers and signals their turn", async () => {
  let readBefore = NaN
  const set = watching(
    ({ type }, send) => {
      if (type !== "subscribe") return
      for (let n = 0; n < 40; n++) send({ ...frame, op: "upsert", key: "0", data: n })
      setImmediate(() => (readBefore = set.steps.length))
    },
    undefined,
    () => set.steps.length * 10,
  )
  await set.until(3)
  expect([readBefore < 5, set.steps.length]).toEqual([true, 40])
})

test.each([
  ["ends", "close", ["0.375 live", "1.125 live", "2.625 live", "33 live"]],
  [
    "rejects each token",
    { type: "error", code: "token-expired", retryable: true, fatal: true },
    ["0 live", "0.75 live", "2.25 live", "32.625 live"],
  ],
] as const)(
  "a stream that %s after it has subscribed is asked ever less often, until it lasts",
  async (_, end, later) => {
    let connections = 0
    const { until, states } = watching(({ type }, send) => {
      if (type !== "subscribe") return
      send({ ...frame, op: "subscribed" })
      send(snapshot())
      if (++connections !== 4) send(end)
    })
    await until(11)
    expect(states.filter((state) => state.endsWith("live"))).toEqual(["0 live", ...later])
  },
)

test("a snapshot replaces what a client continues from; a change in an incomplete one is lost with it", async () => {
  const change = (seq: string) => ({ ...frame, op: "upsert", key: "0", data: {}, seq })
  const connections = [
    [snapshot("0"), change("one"), "close"],
    // This server doesn't know the change "one".
    [snapshot("0"), "close"],
    [part(row(0)), change("two"), "close"],
    [snapshot("0")],
  ] as const
  const asked: unknown[] = []
  const { until } = watching(({ type, after }, send) => {
    if (type !== "subscribe") return
    for (const message of connections[asked.push(after) - 1] ?? []) send(message)
  })
  await until(8)
  expect(asked).toEqual([undefined, "one", undefined, undefined])
})
