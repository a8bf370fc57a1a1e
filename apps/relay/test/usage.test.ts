import { startReceiver } from "@svc/testing"
import fc from "fast-check"
import { Agent } from "undici"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createUsage, type Usage, type UsageEvent } from "../src/usage/usage.ts"
import { createDelivery, createPostUsage, type PostUsage } from "../src/usage/delivery.ts"

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => vi.useRealTimers())

let serial = 0
const event = (): UsageEvent => ({
  event_id: `event-${++serial}`,
  occurred_at_ms: 1,
  operation: "send",
  result: "accepted",
  request_bytes: 1,
  response_bytes: 2,
  latency_ms: 3,
  subject: "agent:alice",
  metering_key: "key:1",
})
const idsOf = (body: string): string[] =>
  (JSON.parse(body) as { events: UsageEvent[] }).events.map(({ event_id }) => event_id)

const stalled = (signal: AbortSignal): Promise<number> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))))

const start = (capacity: number, answers: (batch: number, signal: AbortSignal) => Promise<number> | number) => {
  const batches: string[][] = []
  const losses = { dropped: 0, undelivered: 0 }
  const post: PostUsage = async (body, signal) => {
    batches.push(idsOf(body))
    return answers(batches.length, signal)
  }
  const usage: Usage = createUsage({
    capacity,
    delivery: createDelivery(post, () => 1),
    onLoss: (loss) => {
      losses.dropped += loss.dropped
      losses.undelivered += loss.undelivered
    },
  })
  const record = (count: number): string[] =>
    Array.from({ length: count }, () => {
      const one = event()
      usage.record(one)
      return one.event_id
    })
  return { usage, batches, losses, record }
}

test("50 records are sent immediately, fewer after a second", async () => {
  const { batches, record } = start(1000, () => 200)
  const first = record(120)
  expect(batches).toEqual([first.slice(0, 50), first.slice(50, 100)])
  await vi.advanceTimersByTimeAsync(999)
  expect(batches).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(batches[2]).toEqual(first.slice(100))
})

test.each([
  ...[408, 429, 500, 503, "transport" as const].map((failure) => [failure, 5] as const),
  ...[301, 307, 400, 401, 403, 404, 413].map((failure) => [failure, 1] as const),
])("after %s a batch has %i attempts in all, with the same ids and increasing delays", async (failure, times) => {
  const { batches, losses, record } = start(1000, () =>
    failure === "transport" ? Promise.reject(new Error("reset")) : failure,
  )
  const ids = record(2)
  await vi.advanceTimersByTimeAsync(1000)
  const counts = [batches.length]
  for (const pause of [500, 1000, 2000, 4000, 60_000]) {
    await vi.advanceTimersByTimeAsync(pause)
    counts.push(batches.length)
  }
  expect(counts).toEqual([1, 2, 3, 4, 5, 5].map((count) => Math.min(count, times)))
  expect(batches).toEqual(Array(times).fill(ids))
  expect(losses).toEqual({ dropped: 0, undelivered: 2 })
})

test("the queue is bounded, including the batches that are being sent; the newest records are dropped and counted", async () => {
  let release = (_status: number): void => {}
  const { batches, losses, record } = start(60, () => new Promise((resolve) => (release = resolve)))
  const ids = record(70)
  expect(batches).toEqual([ids.slice(0, 50)])
  await vi.advanceTimersByTimeAsync(1000)
  expect(batches[1]).toEqual(ids.slice(50, 60))
  expect(losses).toEqual({ dropped: 10, undelivered: 0 })
  record(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(losses.dropped).toBe(11)
  release(200)
  await vi.advanceTimersByTimeAsync(0)
  record(11)
  await vi.advanceTimersByTimeAsync(1000)
  expect(losses.dropped).toBe(12)
  expect(batches[2]).toHaveLength(10)
})

test("a flush sends the queue and ends the delays", async () => {
  const { usage, batches, losses, record } = start(1000, (batch) => (batch === 1 ? 503 : 200))
  const early = record(3)
  await vi.advanceTimersByTimeAsync(1000)
  const late = record(2)
  await usage.flush()
  expect(batches).toEqual([early, late, early])
  expect(losses).toEqual({ dropped: 0, undelivered: 0 })
})

test("a flush ends after 5 s even if the receiver stalls, and counts the lost records", async () => {
  const { usage, losses, record } = start(1000, (_, signal) => stalled(signal))
  record(420)
  let over = false
  const flushed = usage.flush().then(() => (over = true))
  await vi.advanceTimersByTimeAsync(4999)
  expect(over).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await flushed
  expect(losses.undelivered).toBe(420)
})

test("every record is either delivered, dropped or undelivered, and the queue never exceeds the capacity", async () => {
  const step = fc.oneof(fc.nat(60), fc.constant("second" as const))
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.integer({ min: 0, max: 120 }),
      fc.infiniteStream(fc.constantFrom(200, 200, 503, 400)),
      async (steps, capacity, statuses) => {
        const delivered: string[] = []
        const held = new Set<string>()
        let recorded = 0
        const { usage, batches, losses, record } = start(capacity, (batch) => {
          const status = statuses.next().value ?? 200
          const ids = batches[batch - 1] ?? []
          for (const id of ids) held.add(id)
          if (status === 200) delivered.push(...ids)
          return status
        })
        for (const next of steps) {
          if (next === "second") await vi.advanceTimersByTimeAsync(1000)
          else recorded += record(next).length
        }
        const flushed = usage.flush()
        await vi.advanceTimersByTimeAsync(5000)
        await flushed
        expect(new Set(delivered).size).toBe(delivered.length)
        expect(delivered.length + losses.dropped + losses.undelivered).toBe(recorded)
        if (capacity === 0) expect(held.size).toBe(0)
      },
    ),
    { numRuns: 50 },
  )
})

test("over HTTP: one POST with the bearer token and the events; no redirect is followed, and a stall is aborted", async () => {
  vi.useRealTimers()
  const receiver = await startReceiver()
  const agent = new Agent()
  const post = createPostUsage(agent, `${receiver.url}/v1/usage?tenant=1`, "usage-token")
  const signal = new AbortController()
  expect(await post('{"events":[]}', signal.signal)).toBe(200)
  expect(receiver.received[0]).toMatchObject({
    method: "POST",
    url: "/v1/usage?tenant=1",
    headers: { authorization: "Bearer usage-token", "content-type": "application/json" },
    body: Buffer.from('{"events":[]}'),
  })
  receiver.answer((_, response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end())
  expect(await post("{}", signal.signal)).toBe(307)
  expect(receiver.received).toHaveLength(2)
  receiver.answer(() => {})
  const stall = post("{}", signal.signal)
  await receiver.count(3)
  signal.abort()
  await expect(stall).rejects.toThrow(/abort/i)
  await agent.destroy()
  await receiver.close()
})
