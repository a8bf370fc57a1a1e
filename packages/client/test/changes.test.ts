import type { ServerResponse } from "node:http"
import { expect, onTestFinished, test, vi } from "vitest"
import { testReceiver } from "../../../test/start-service.ts"
import { systemClock } from "../src/http/clock.ts"
import { createPlatform, SvcError } from "../src/index.ts"
import { createVirtualClock } from "./virtual-clock.ts"

type Answer = (response: ServerResponse) => void

/** A platform that answers one request after the other as said, the last one again and again. Waits take no time. */
const platformOf = async (...answers: Answer[]) => {
  const { url: apiUrl, received, answer } = await testReceiver()
  answer((_, response) => answers[Math.min(received.length, answers.length) - 1]?.(response))
  const waits: number[] = []
  let silences = 0
  const clock = {
    now: () => performance.now(),
    random: () => 0.5,
    // Silence is waited for beside every read.
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (ms !== 45_000 && ms !== 20_000) waits.push(ms)
      else {
        silences += 1
        await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()))
        silences -= 1
      }
    },
  }
  return {
    platform: createPlatform({ apiUrl, clock }),
    withKey: createPlatform({ apiUrl, clock, key: "k" }),
    asked: () => received.map(({ url }) => url),
    waits,
    /** How many timers are left. */
    silences: () => silences,
  }
}

const change = (id: number) =>
  `id: ${id}\nevent: published\ndata: ${JSON.stringify({ id, stack: "transfers", kind: "published", version: id })}\n\n`
const stream =
  (end: "cut" | "end" | "stay", ...parts: string[]): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "Text/Event-Stream; charset=utf-8" })
    const next = (): void => {
      const part = parts.shift()
      if (part !== undefined) response.write(part, () => setImmediate(next))
      else if (end === "cut") response.destroy()
      else if (end === "end") response.end()
    }
    next()
  }
const refuse =
  (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end(JSON.stringify({ error: "no", code, retryable: status > 400 }))

const take = async (changes: AsyncIterable<{ readonly id: number }>, count: number) => {
  const ids: number[] = []
  for await (const { id } of changes) if (ids.push(id) === count) break
  return ids
}

test("after a lost connection changes continue without gap or duplicate, whatever cut it", async () => {
  const half = change(4).slice(0, 20)
  const { platform, asked, waits } = await platformOf(
    stream("end", ": what comes next\nid: 1\n\n"),
    stream("cut", change(2).slice(0, 9), change(2).slice(9), change(3), half),
    refuse(429, "rate-limit-exceeded", { "retry-after": "30" }),
    refuse(503, "service-unavailable"),
    stream("stay", change(4), ": still here\n\n", change(5)),
  )
  expect(await take(platform.registry.changes({ stack: "transfers" }), 4)).toEqual([2, 3, 4, 5])
  const after = (id: number) => `/api/registry/changes?stack=transfers&after=${id}`
  expect(asked()).toEqual(["/api/registry/changes?stack=transfers", after(1), after(3), after(3), after(3)])
  expect(waits).toEqual([500, 500, 30_000, 2000])
})

test("a change whose message has other signs that end a line is read whole", async () => {
  const message = "\u0085a\u2028b\u2029"
  const { platform } = await platformOf(
    stream("stay", `id: 1\nevent: published\ndata: ${JSON.stringify({ message })}\n\n`, change(2)),
  )
  const messages: unknown[] = []
  for await (const one of platform.registry.changes()) if (messages.push(one.message) === 2) break
  expect(messages).toEqual([message, undefined])
})

test("a server that asks for a pause longer than a timer takes isn't asked again at once", async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const begun = Date.now()
  for (const ms of [2 ** 31, 2 ** 40, Infinity]) {
    const pause = systemClock.sleep(ms)
    await vi.advanceTimersToNextTimerAsync()
    await pause
  }
  expect(Date.now() - begun).toBeGreaterThanOrEqual(3 * (2 ** 31 - 1))
})

test("a signal ends the loop, even while it waits for the next change", async () => {
  const { platform, silences } = await platformOf(stream("stay", change(7)))
  const ending = new AbortController()
  const ids: number[] = []
  for await (const { id } of platform.registry.changes({ after: 6, signal: ending.signal })) {
    ids.push(id)
    setImmediate(() => ending.abort())
  }
  expect([ids, silences()]).toEqual([[7], 0])
  expect(await take(platform.registry.changes({ signal: AbortSignal.abort() }), 1)).toEqual([])
})

test("changes are read however a gateway writes lines and fields", async () => {
  const crlf = (id: number) => change(id).replaceAll("\n", "\r\n")
  const inTwoLines = change(5).replace('","kind', '",\ndata:"kind')
  const { platform } = await platformOf(
    stream("stay", crlf(2), crlf(3).slice(0, 6), crlf(3).slice(6), change(4).replaceAll(": ", ":"), inTwoLines),
  )
  expect(await take(platform.registry.changes(), 4)).toEqual([2, 3, 4, 5])
})

test("errors that a retry can't fix are thrown: bad request, unknown position, wrong response, invalid key", async () => {
  const { platform, withKey } = await platformOf(
    refuse(400, "invalid-request"),
    stream("stay", 'id: 3\nevent: begin-again\ndata: {"code":"invalid-request","error":"no","retryable":false}\n\n'),
    (response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"),
    (response) =>
      response
        .writeHead(200, { "content-type": "text/event-stream", "x-auth-ignored": "invalid-api-key" })
        .write(": \n\n"),
  )
  const code = async (from: typeof platform) =>
    take(from.registry.changes(), 1).catch((error: unknown) => (error instanceof SvcError ? error.code : error))
  const codes = [await code(platform), await code(platform), await code(platform), await code(withKey)]
  expect(codes).toEqual(["invalid-request", "invalid-request", "unexpected-answer", "invalid-api-key"])
})

test("a server that never responds is asked again after 45 s, and a redirect isn't followed", async () => {
  const { clock, run } = createVirtualClock()
  const asked: string[] = []
  const response = (status: number, text: string) =>
    new Response(text, { status, headers: { "content-type": "text/event-stream" } })
  const answers = [undefined, response(302, ""), response(200, change(7))]
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const answer = answers[asked.push(`${clock.now() / 1000} ${init?.redirect}`) - 1]
    if (answer !== undefined) return answer
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(new Error("aborted")))
    })
  }
  const platform = createPlatform({ apiUrl: "https://api.example", clock, fetch })
  expect(await run(take(platform.registry.changes(), 1))).toEqual([7])
  expect(asked).toEqual(["0 manual", "46 manual", "48 manual"])
})
