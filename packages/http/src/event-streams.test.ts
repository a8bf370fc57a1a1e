import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createEventStreams, type EventStream } from "./event-streams.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const open = (stopping = new AbortController()) => {
  let stream: EventStream | undefined
  let left = 0
  let waiting = 0
  const count = (bytes: number) => (waiting = bytes)
  const body = createEventStreams({ stopping: stopping.signal }).open(count, (one) => {
    stream = one
    return () => left++
  })
  if (stream === undefined) throw new Error("nothing was opened")
  return { stream, left: () => left, waiting: () => waiting, reader: body.getReader(), stop: () => stopping.abort() }
}
const event = (size: number) => new Uint8Array(size).fill(97)

test("a quiet stream sends a comment every 15 s; an event postpones it", async () => {
  const { stream, reader } = open()
  const read = async () => new TextDecoder().decode((await reader.read())?.value)
  vi.advanceTimersByTime(10_000)
  stream.send(event(2))
  expect(await read()).toBe("aa")
  const next = read()
  vi.advanceTimersByTime(10_000)
  stream.send(event(1))
  expect(await next).toBe("a")
  vi.advanceTimersByTime(15_000)
  expect(await read()).toMatch(/^: .+\n\n$/)
})

test("unread data of a client is counted until it is read", async () => {
  const { stream, reader, waiting } = open()
  stream.send(event(3000))
  stream.send(event(2000))
  expect(waiting()).toBe(5000)
  for (let n = 0; n < 2; n++) await reader.read()
  expect(waiting()).toBe(0)
})

test("a client with too much unread data is disconnected, and its place is freed once", async () => {
  const { stream, reader, left } = open()
  for (let n = 0; n < 10; n++) stream.send(event(30_000))
  expect([stream.hasEnded(), left()]).toEqual([true, 1])
  await expect(reader.read()).rejects.toThrow("doesn't read")
  stream.end()
  expect(left()).toBe(1)
})

test("older events wait until the client reads; none is lost, however many there are", async () => {
  const { stream, reader } = open()
  const sendAll = async () => {
    for (let n = 0; n < 100; n++) {
      await stream.room()
      stream.send(event(20_000))
    }
    stream.end()
  }
  const sent = sendAll()
  let bytes = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length
  await sent
  expect(bytes).toBe(2_000_000)
})

test("streams end with the service, even those that open while it stops, and when the client leaves", async () => {
  const one = open()
  one.stop()
  expect([await one.reader.read(), one.left()]).toEqual([{ done: true, value: undefined }, 1])
  const stopped = new AbortController()
  stopped.abort()
  const late = open(stopped)
  expect([await late.reader.read(), late.left()]).toEqual([{ done: true, value: undefined }, 1])
  const gone = open()
  await gone.reader.cancel()
  expect([gone.stream.hasEnded(), gone.left()]).toEqual([true, 1])
})
