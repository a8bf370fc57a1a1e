import { full } from "@svc/testing"
import fc from "fast-check"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { settle, submit, SvcError, type Outcome, type Step, type SubmitOptions } from "../src/index.ts"
import { ok, refused, scriptedRelay, type Asked, type Said } from "./scripted-relay.ts"
import { signedMemo } from "./transactions.ts"
import { createVirtualClock } from "./virtual-clock.ts"

const { base64, signature } = await signedMemo()
const lastValidBlockHeight = 460n

const seen = (confirmationStatus: string) =>
  ok({ status: { slot: "312", confirmations: "1", confirmationStatus, err: null }, contextSlot: "330" })
const absent = (slot: number) => ok({ status: null, contextSlot: String(slot) })
const final = (height: number) =>
  ok({ blockhash: "x", contextSlot: String(height + 100), lastValidBlockHeight: String(height + 150) })
const noFee = ok({ feeLamports: null, contextSlot: "700" })
const accepted = ok({ signature })
const landed = { state: "landed", signature, slot: 312n, commitment: "confirmed", err: null }

/** Runs `submit` against a script; `send`, `status`, `view` and `fee` are what the routes say at each call, the last for good. */
const play = (
  says: Partial<Record<"send" | "status" | "view" | "fee", readonly Said[]>>,
  options: Partial<SubmitOptions> = {},
) => {
  const virtual = createVirtualClock()
  const counts = { send: 0, "signature-status": 0, "latest-blockhash": 0, fee: 0 }
  const times: number[] = []
  const { relay, asked, routes } = scriptedRelay(virtual.clock, ({ route }: Asked) => {
    const { send = [accepted], status = [absent(330)], view = [final(310)], fee = [noFee] } = says
    const script = { send, "signature-status": status, "latest-blockhash": view, fee }
    if (route === "block-height" || route === "simulate") throw new Error(route)
    if (route === "send") times.push(virtual.clock.now())
    return script[route][Math.min(counts[route]++, script[route].length - 1)] ?? "lost"
  })
  const steps: Step[] = []
  const outcome = virtual.run(
    submit(relay, {
      transaction: base64,
      lastValidBlockHeight,
      clock: virtual.clock,
      onStep: (step) => steps.push(step),
      ...options,
    }),
  )
  return { outcome, asked, routes, steps, times, now: virtual.clock.now, counts }
}

const expired: { status: Said[]; view: Said[] } = { status: [absent(700)], view: [final(310), final(461)] }

test("an accepted and confirmed transaction is sent once, without a request before", async () => {
  const { outcome, routes } = play({ status: [seen("confirmed")] })
  expect(await outcome).toEqual(landed)
  expect(routes()[0]).toBe("send")
  expect(routes().filter((route) => route === "send")).toHaveLength(1)
})

test("the signature is reported, and the callback awaited, before the first byte is sent", async () => {
  const order: string[] = []
  const { outcome, asked } = play(
    { status: [seen("confirmed")] },
    {
      before: async (given) => {
        await Promise.resolve()
        order.push(given, String(asked.length))
      },
    },
  )
  await outcome
  expect(order).toEqual([signature, "0"])
})

test("bytes that an earlier run sent are rejected, and found on the chain: landed, not not-submitted", async () => {
  const rejected = refused("upstream_rpc_error", false)
  const { outcome, asked } = play({ send: [rejected], status: [seen("finalized")] })
  expect(await outcome).toEqual({ ...landed, commitment: "finalized" })
  const searched = { signature, searchTransactionHistory: true }
  expect(asked.map(({ route, body }) => [route, body]).slice(1)).toEqual([["signature-status", searched]])
  const later = play({ send: [rejected], status: ["lost", "silence", seen("finalized")] })
  expect(await later.outcome, "nothing is concluded before the look-up works").toMatchObject({ state: "landed" })
  const fresh = play({ send: [rejected], status: [absent(330)] })
  expect(await fresh.outcome).toMatchObject({ state: "not-submitted", error: { code: "upstream_rpc_error" } })
})

test("no rejection proves anything once the bytes were seen in a block, whoever sent them", async () => {
  for (const send of [refused("server_busy", true), refused("invalid_request", false)]) {
    const giving = new AbortController()
    const { outcome } = play(
      { send: [refused("server_busy", true), send], status: [seen("processed"), absent(330)] },
      {
        signal: giving.signal,
        onStep: (step) => step.step === "status" && step.status === null && setImmediate(() => giving.abort()),
      },
    )
    expect(await outcome).toMatchObject({ state: "undecided", signature })
  }
})

test("a rejection of another transaction, as a cache in between returns it, proves nothing", async () => {
  const body = { code: "upstream_unavailable", message: "No.", retryable: false, submissionState: "not_submitted" }
  const other = { status: 502, body: { ...body, signature: (await signedMemo("other")).signature } }
  const { outcome, steps } = play({ send: [other], status: [seen("confirmed")] })
  expect(await outcome).toEqual(landed)
  expect(steps[1]).toMatchObject({ step: "uncertain", error: { submissionState: "unknown", signature } })
  const ours = play({ send: [{ status: 502, body: { ...body, signature } }] })
  expect(await ours.outcome).toMatchObject({ state: "not-submitted" })
})

test.each([null, "Confirmed", "max"])(
  "with the commitment %j of a program without types, only a final block counts",
  async (said) => {
    const status = [seen("processed"), seen("confirmed"), seen("finalized")]
    const { outcome } = play({ status }, { commitment: said as unknown as "confirmed" })
    expect(await outcome).toEqual({ ...landed, commitment: "finalized" })
  },
)

test("nothing is sent if before() fails", async () => {
  const failing = play({}, { before: () => Promise.reject(new Error("disk full")) })
  expect(await failing.outcome).toMatchObject({
    state: "not-submitted",
    error: { code: "before-failed", message: expect.stringContaining("disk full") },
  })
  expect(failing.asked).toEqual([])
})

test.each([[{}], [undefined]])(
  "without crypto.subtle (%j), as in a page by http, the relay alone checks signatures",
  async (crypto) => {
    vi.stubGlobal("crypto", crypto)
    onTestFinished(() => void vi.unstubAllGlobals())
    expect(await play({ status: [seen("confirmed")] }).outcome).toEqual(landed)
  },
)

test("while the outcome is unknown the same bytes are resent about every two seconds", async () => {
  const options = { skipPreflight: true, preflightCommitment: "processed", minContextSlot: 7n } as const
  const { outcome, asked, times } = play(expired, options)
  expect(await outcome).toEqual({ state: "expired", signature })
  expect(times.length).toBeGreaterThan(2)
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  for (const gap of gaps) {
    expect(gap).toBeGreaterThanOrEqual(1600)
    expect(gap).toBeLessThanOrEqual(2400)
  }
  const sent = asked.filter(({ route }) => route === "send")
  const body = { transaction: base64, ...options, minContextSlot: "7" }
  expect(sent.map((one) => one.body)).toEqual(sent.map(() => body))
})

test("with rebroadcastMs 0, nothing is sent again while a copy may be in transit", async () => {
  for (const send of [accepted, "lost", "silence"] as const) {
    const { outcome, times } = play({ ...expired, send: [send] }, { rebroadcastMs: 0 })
    expect(await outcome).toMatchObject({ state: "expired" })
    expect(times).toHaveLength(1)
  }
  const { outcome, times } = play(
    { send: [refused("server_busy", true), accepted], status: [absent(330), absent(330), seen("confirmed")] },
    { rebroadcastMs: 0 },
  )
  expect(await outcome).toEqual(landed)
  expect(times).toHaveLength(2)
})

test("Retry-After is honoured by sends and by look-ups", async () => {
  const busy = refused("rate_limit_exceeded", true, { "retry-after": "30" }, 429)
  const sends = play(
    { send: [busy, accepted], status: Array.from({ length: 90 }, () => absent(330)).concat([]), view: [final(310)] },
    { signal: AbortSignal.timeout(1500) },
  )
  await sends.outcome
  expect((sends.times[1] ?? 0) - (sends.times[0] ?? 0)).toBeGreaterThanOrEqual(30_000)
  const looks = play({ status: [busy, seen("confirmed")] })
  expect(await looks.outcome).toEqual(landed)
  expect(looks.now()).toBeGreaterThanOrEqual(30_000)
  // None of the services asks for that much.
  const days = refused("rate_limit_exceeded", true, { "retry-after": "100000000" }, 429)
  const soon = play({ status: [days, seen("confirmed")] })
  expect(await soon.outcome).toEqual(landed)
  expect(soon.now()).toBeLessThan(30_000)
})

test("no failed look-up ends it or loses the signature", async () => {
  const failures: Said[] = [
    "lost",
    "silence",
    { status: 429, headers: { "retry-after": "2" }, body: { code: "rate_limit_exceeded", message: "No." } },
    { status: 503, body: { code: "server_busy", message: "No." } },
    { status: 401, body: { code: "token-expired", message: "No." } },
    { status: 502, body: "<html>" },
    { status: 200, body: {} },
    { status: 200, body: { status: {}, contextSlot: "1" } },
    { status: 200, body: null },
  ]
  const { outcome, steps } = play({ status: [...failures, seen("confirmed")], view: failures })
  expect(await outcome).toEqual(landed)
  expect(steps.filter(({ step }) => step === "lookup-failed").length).toBeGreaterThanOrEqual(failures.length)
})

test("a caller who aborts gets what is certain at once, and no more requests are made", async () => {
  const giving = new AbortController()
  const play1 = play({ send: ["silence"] }, { signal: giving.signal, onStep: () => setImmediate(() => giving.abort()) })
  expect(await play1.outcome).toMatchObject({ state: "undecided", signature, lastError: { code: "aborted" } })
  const already = play({}, { signal: AbortSignal.abort() })
  expect(await already.outcome).toMatchObject({ state: "not-submitted", error: { code: "aborted" } })
  expect(already.asked).toEqual([])
})

test("a listener that throws doesn't lose the transaction", async () => {
  const { outcome } = play(
    { status: [seen("confirmed")] },
    {
      onStep: () => {
        throw new Error("listener")
      },
    },
  )
  expect(await outcome).toEqual(landed)
})

test("a token that the relay rejects is replaced once per call, and the transaction continues", async () => {
  const virtual = createVirtualClock()
  const { relay, asked } = scriptedRelay(virtual.clock, ({ route, bearer }) => {
    if (bearer === "token-0")
      return {
        status: 401,
        headers: { "x-svc-upstream-attempted": "false" },
        body: { code: "token-expired", message: "Old.", retryable: true, submissionState: "not_submitted" },
      }
    return route === "send" ? accepted : seen("confirmed")
  })
  const outcome = await virtual.run(submit(relay, { transaction: base64, lastValidBlockHeight, clock: virtual.clock }))
  expect(outcome).toEqual(landed)
  expect(asked.map(({ bearer }) => bearer)).toEqual(["token-0", "token-1", "token-1"])
})

describe("settle", () => {
  const find = async (says: Said[], resend?: string, views = [final(461)]) => {
    const virtual = createVirtualClock()
    let count = 0
    const { relay, routes } = scriptedRelay(virtual.clock, ({ route }) => {
      if (route === "latest-blockhash") return (views.length > 1 ? views.shift() : views[0]) ?? "lost"
      if (route === "fee") return noFee
      return route === "send" ? "lost" : (says[Math.min(count++, says.length - 1)] ?? "lost")
    })
    const options = { signature, lastValidBlockHeight, clock: virtual.clock }
    const outcome = await virtual.run(settle(relay, resend === undefined ? options : { ...options, resend }))
    return { outcome, routes: routes() }
  }

  test("finds the outcome of a signature without sending anything", async () => {
    expect(await find([seen("processed"), seen("confirmed")])).toMatchObject({ outcome: landed })
    const looks = Array.from({ length: 5 }, () => absent(700))
    const { outcome, routes } = await find([...looks, absent(950)], undefined, [final(461), final(750), final(751)])
    expect(outcome).toEqual({ state: "expired", signature })
    // At the first look a blockhash could be as new as slot 700, so 290 blocks are left.
    expect(routes.filter((route) => route === "latest-blockhash")).toHaveLength(3)
    expect(routes).not.toContain("send")
  })

  test("sends the same bytes again, and rejects others", async () => {
    const { outcome, routes } = await find([absent(330), absent(330), seen("confirmed")], base64)
    expect(outcome).toEqual(landed)
    expect(routes).toContain("send")
    const other = await signedMemo("other")
    await expect(find([absent(1)], other.base64)).rejects.toMatchObject({ code: "signature-mismatch" })
  })

  test("rejects anything but a signature", async () => {
    const { relay, asked } = scriptedRelay(createVirtualClock().clock, () => "lost")
    for (const text of ["", "x", `${signature}1`, signature.slice(9), "1".repeat(63), "0".repeat(88)]) {
      const settled = settle(relay, { signature: text, lastValidBlockHeight })
      await expect(settled).rejects.toMatchObject({ code: "invalid_signature" })
    }
    expect(asked).toEqual([])
  })
})

const anything = fc.oneof(
  fc.constantFrom<Said>(
    "lost",
    "silence",
    accepted,
    seen("processed"),
    seen("confirmed"),
    seen("finalized"),
    absent(300),
    absent(900),
    final(300),
    final(470),
  ),
  fc.constantFrom<Said>(refused("server_busy", true), refused("upstream_rpc_error", false)),
  fc
    .record({ status: fc.constantFrom(200, 204, 400, 401, 429, 500, 502, 503), body: fc.jsonValue() })
    .filter(({ status }) => status !== 204),
)

test("whatever the relay returns, there are four outcomes, each with its proof", async () => {
  const says = fc.record({
    send: fc.array(anything, { minLength: 1, maxLength: 5 }),
    status: fc.array(anything, { maxLength: 8 }).map((list) => list.concat(seen("finalized"))),
    view: fc.array(anything, { minLength: 1, maxLength: 5 }),
    stepsUntilAbort: fc.nat({ max: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(says, async ({ stepsUntilAbort, ...script }) => {
      const giving = new AbortController()
      let left = stepsUntilAbort
      const onStep = (step: Step): void => {
        steps.push(step)
        if (left-- === 0) giving.abort()
      }
      const steps: Step[] = []
      const { outcome } = play(script, { onStep, signal: giving.signal })
      const ended: Outcome = await outcome
      const has = (step: Step["step"]): boolean => steps.some((one) => one.step === step)
      switch (ended.state) {
        case "landed":
          expect(steps.at(-1)).toMatchObject({ step: "status", status: { slot: ended.slot } })
          expect(ended.commitment).not.toBe("processed")
          break
        case "not-submitted":
          expect(ended.error).toBeInstanceOf(SvcError)
          expect(has("accepted") || has("uncertain")).toBe(false)
          expect(steps.filter((step) => step.step === "status" && step.status !== null)).toEqual([])
          break
        case "expired":
          expect(steps.at(-1)).toMatchObject({ step: "status", status: null, searched: true })
          expect(steps.some((step) => step.step === "finalized" && step.height > lastValidBlockHeight)).toBe(true)
          break
        case "undecided":
          expect(giving.signal.aborted).toBe(true)
      }
    }),
    { numRuns: full ? 20_000 : 200 },
  )
})
