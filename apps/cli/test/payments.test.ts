import { readdir, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { full, type Lie, methodOf, providerLies, startFaultProxy } from "@svc/testing"
import { afterAll, describe, expect, onTestFinished, test } from "vitest"
import { startMcp } from "./mcp-client.ts"
import { startRelaySetup } from "./relay-setup.ts"
import { expectError, json, resultOf } from "./tool.ts"

/** What the provider makes of a request. */
let answerTo = (_body: string): Lie | undefined => undefined
const setup = await startRelaySetup(({ body }) => answerTo(body))

/** The provider's response to a request that it does nothing about. */
const saying = (said: { readonly result: unknown } | { readonly error: object }): Lie => ({
  answer: async (body) => {
    const { id } = JSON.parse(body) as { readonly id: number }
    const headers = { "content-type": "application/json" }
    return { status: 200, headers, body: Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, ...said })) }
  },
})

let started: ReturnType<typeof startMcp> | undefined
const mcp = async () => (started ??= startMcp(await setup.tool.file(), setup.env))
afterAll(async () => (await started)?.close())

const journal = () => join(setup.tool.home, "config/svc/payments")
const sendArgs = (id: string) => ["send", "--id", id, "--stack", "transfers", "--json"]
const send = (id: string, { base64, signature }: { readonly base64: string; readonly signature: string }) =>
  setup.inFastTime(setup.svc(sendArgs(id), base64), signature)

test("a payment that was killed while sending is finished by the same command, and lands once", async () => {
  const recipient = await setup.wallet.newAddress()
  const first = await setup.wallet.transfer(1_000_000n, undefined, recipient)
  let onLookUp = (): void => {}
  let isDown = true
  const looked = new Promise<void>((resolve) => (onLookUp = resolve))
  let hasSent = false
  const proxy = await startFaultProxy({
    target: setup.env.SVC_RELAY_URL,
    choose: ({ path }) => {
      if (path.endsWith("/send")) {
        hasSent = true
        return isDown ? "drop-answer" : undefined
      }
      if (!hasSent || !isDown || !path.endsWith("/signature-status")) return undefined
      onLookUp()
      return "drop-request"
    },
  })
  const env = { ...setup.env, SVC_RELAY_URL: proxy.url }
  const run = (base64: string) =>
    setup.inFastTime(setup.tool.svc(sendArgs("rent"), { env, stdin: base64 }), first.signature)
  const file = join(setup.tool.home, "rent.base64")
  await writeFile(file, first.base64)
  const killed = await setup.tool.start(["send", file, "--id", "rent", "--stack", "transfers"], env)
  await looked
  killed.kill("SIGKILL")
  await killed.exited
  expect(json(await setup.svc(["payments", "list", "--json"]))).toEqual([
    {
      id: "rent",
      state: "open",
      state_age_seconds: expect.any(Number),
      purpose: null,
      payer: expect.stringMatching(/^\w{32,44}$/),
      programs: ["11111111111111111111111111111111"],
      attempt: 1,
      signature: first.signature,
      last_valid_block_height: expect.stringMatching(/^\d+$/),
      stored_at: expect.stringMatching(/^\d{4}-.*Z$/),
    },
  ])
  isDown = false
  const resigned = await setup.wallet.transfer(1_000_000n, undefined, recipient)
  const ended = await run(resigned.base64)
  expect(json(ended)).toMatchObject({
    id: "rent",
    state: "landed",
    signature: first.signature,
    commitment: "finalized",
    replayed: true,
  })
  expect(await run(first.base64)).toEqual(ended)
  expect(await setup.wallet.balanceOf(recipient)).toBe(1_000_000n)
  await proxy.close()
})

test("another payment under a used id is rejected; a forgotten id is free", async () => {
  const one = await setup.wallet.transfer()
  expect((await send("a b", one)).code).toBe(0)
  const other = await setup.wallet.transfer(2_000_000n)
  const reused = await setup.svc(sendArgs("a b"), other.base64)
  expect(reused).toMatchObject({ code: 1 })
  expectError(reused, "id-reused", "svc payments list")
  const shown = await setup.svc(["payments", "show", "a b", "--json"])
  expect(json(shown)).toMatchObject({
    id: "a b",
    state: "landed",
    signature: one.signature,
    relay_url: setup.env.SVC_RELAY_URL,
  })
  expect(shown.stdout).not.toContain(one.base64)
  const forgotten = await setup.svc(["payments", "forget", "a b", "--json"])
  expect(json(forgotten)).toEqual({ id: "a b", state: "forgotten" })
  expectError(await setup.svc(["payments", "show", "a b", "--json"]), "payment-not-found")
  expect((await send("a b", await setup.wallet.transfer(2_000_000n))).code).toBe(0)
})

test("an undecided payment stays open: settle ends it, and until then only force can forget it", async () => {
  const { base64, signature } = await setup.wallet.transfer()
  // The chain's time doesn't pass fast enough for it to be final.
  const left = await setup.svc([...sendArgs("left"), "--timeout", "6"], base64)
  expect(left.code).toBe(3)
  expect(json(left)).toMatchObject({ state: "undecided", next: "svc payments settle left --stack transfers" })
  // The first run sent it.
  const env = { ...setup.env, SVC_API_URL: "http://127.0.0.1:9" }
  const gone = await setup.tool.svc(sendArgs("left"), { env, stdin: base64 })
  expectError(gone, "unreachable", /^This run sent nothing\. The API at .* can't be reached/, 3)
  expectError(await setup.svc(["payments", "forget", "left", "--json"]), "payment-open", "svc payments settle")
  const settle = ["payments", "settle", "left", "--stack", "transfers", "--json"]
  expectError(await setup.tool.svc(settle, { env }), "unreachable", "", 3)
  expectError(await setup.tool.svc(settle.with(2, "unknown"), { env }), "payment-not-found")
  const settled = await setup.inFastTime(setup.svc(settle), signature)
  expect(resultOf(settled)).toEqual([
    { id: "left", state: "landed", signature, slot: expect.any(String), commitment: "finalized", err: null },
  ])
  expect((await setup.svc(settle)).stdout).toBe(settled.stdout)
  expect((await setup.svc(["payments", "settle", "--stack", "transfers"])).code).toBe(0)
})

test("a payment shows its purpose, and continues at a relay that has moved only if that is allowed", async () => {
  const { base64, signature } = await setup.wallet.transfer()
  expect(await setup.svc([...sendArgs("moved"), "--purpose", "rent to Ada", "--timeout", "6"], base64)).toMatchObject({
    code: 3,
  })
  expect(json(await setup.svc(["payments", "show", "moved", "--json"]))).toMatchObject({
    purpose: "rent to Ada",
    genesis_hash: expect.stringMatching(/^\w{32,44}$/),
  })
  const moved = await startFaultProxy({ target: setup.env.SVC_RELAY_URL, choose: () => undefined })
  const settle = ["payments", "settle", "moved", "--stack", "transfers", "--json", "--relay-url", moved.url]
  expect(json(await setup.svc(settle))).toMatchObject([{ state: "undecided", lastError: { code: "other-relay" } }])
  const atMoved = await startMcp(await setup.tool.file(), { ...setup.env, SVC_RELAY_URL: moved.url })
  expect(await atMoved.call("settle_payments", { id: "moved" })).toMatchObject({
    payments: [{ next: expect.stringMatching(/^Ask a person to run svc payments settle/) }],
  })
  await atMoved.close()
  const resend = [...sendArgs("moved"), "--relay-url", moved.url]
  expectError(await setup.svc(resend, base64), "other-relay", "--allow-relay-change", 3)
  const settled = await setup.inFastTime(setup.svc([...settle, "--allow-relay-change"]), signature)
  expect(json(settled)).toMatchObject([{ id: "moved", state: "landed", signature }])
  const other = await setup.svc([...sendArgs("moved"), "--purpose", "rent to Bob"], base64)
  expectError(other, "id-reused")
  await moved.close()
})

test("a payment whose copy is rejected stays open: only the same bytes can land it, under the same id", async () => {
  const { base64, signature } = await setup.wallet.transfer()
  const rejected = saying({ error: { code: -32003, message: "Transaction signature verification failure" } })
  answerTo = (body) => (methodOf(body) === "sendTransaction" ? rejected : undefined)
  const refused = await setup.svc(sendArgs("rejected"), base64)
  answerTo = () => undefined
  expect(refused.code).toBe(3)
  expect(json(refused)).toMatchObject({
    state: "undecided",
    signature,
    lastError: { code: "upstream_rpc_error", details: { code: -32003 } },
    next: expect.stringContaining("Under another id it could be paid twice"),
  })
  expect(json(await setup.svc(["payments", "show", "rejected", "--json"]))).toMatchObject({ state: "open" })
  const other = json(await setup.svc(sendArgs("rejected too"), base64))
  expect(other).toMatchObject({ code: "duplicate-transaction", error: expect.stringContaining('"rejected"') })
  expect(json(await setup.svc(sendArgs("rejected"), base64))).toMatchObject({ state: "landed", signature })
})

test("a payment that landed and failed isn't shown as paid, and says that its id is spent", async () => {
  const { base64 } = await setup.wallet.transfer()
  const err = { InstructionError: [0, { Custom: 1 }] }
  const status = { slot: 1000, confirmations: null, confirmationStatus: "finalized", err }
  const failed = saying({ result: { context: { slot: 1000 }, value: [status] } })
  let isSent = false
  answerTo = (body) => {
    isSent ||= methodOf(body) === "sendTransaction"
    return isSent && methodOf(body) === "getSignatureStatuses" ? failed : undefined
  }
  const sent = await setup.svc(sendArgs("failed"), base64)
  answerTo = () => undefined
  const next = expect.stringMatching(/only the fee was paid\..* under another id/)
  expect([sent.code, json(sent)]).toEqual([1, expect.objectContaining({ state: "landed", err, next })])
  const { call } = await mcp()
  expect(await call("settle_payments", { id: "failed" })).toMatchObject({ payments: [{ state: "landed", err, next }] })
  expect(await call("list_payments")).toEqual({
    payments: expect.arrayContaining([expect.objectContaining({ id: "failed", state: "landed", err })]),
  })
  expect((await setup.svc(["payments", "list"])).stdout).toMatch(/^failed +landed, failed /m)
  const corrected = await setup.svc(sendArgs("failed"), (await setup.wallet.transfer(2_000_000n)).base64)
  expect(json(corrected)).toMatchObject({ code: "id-reused", error: expect.stringContaining("payment (failed): use") })
})

test("a payment is listed whatever the length of its purpose", async () => {
  const { base64, signature } = await setup.wallet.transfer()
  const { call } = await mcp()
  const purpose = "p".repeat(40_000)
  await setup.inFastTime(call("submit_payment", { id: "wordy", transaction: base64, purpose }), signature)
  expect(await call("list_payments")).toEqual({
    payments: expect.arrayContaining([
      expect.objectContaining({ id: "wordy", purpose: expect.stringMatching(/^p+…$/) }),
    ]),
  })
})

test("a tool's payment that fails before it is stored says that nothing was sent; of an open one, that it may land", async () => {
  const transfer = await setup.wallet.transfer()
  const { base64 } = transfer
  const file = await setup.tool.file()
  // A service that has no such routes, as a relay whose transactions are disabled.
  const elsewhere = setup.platform.url
  const failing = { SVC_RELAY_URL: elsewhere, SVC_API_URL: "http://127.0.0.1:9" }
  const hints = Object.entries(failing).map(async ([name, url]) => {
    const other = await startMcp(file, { ...setup.env, [name]: url })
    const { message, hint } = await other.fails("submit_payment", { id: "unsent", transaction: base64 })
    await other.close()
    return `${message} ${hint}`
  })
  for (const said of await Promise.all(hints))
    expect(said).toMatch(/^This run sent nothing\. |\. Nothing was sent\. [A-Z]/)
  const busy = saying({ error: { code: -32005, message: "Busy" } })
  answerTo = (body) => (methodOf(body) === "sendTransaction" ? busy : undefined)
  await setup.svc([...sendArgs("unsent"), "--timeout", "2"], base64)
  answerTo = () => undefined
  for (const [name, url] of Object.entries(failing)) {
    const other = await startMcp(file, { ...setup.env, [name]: url })
    expect(await other.fails("submit_payment", { id: "unsent", transaction: base64 })).toMatchObject({
      hint: expect.stringMatching(/^This payment may be open, and still land\. [A-Z]/),
    })
    await other.close()
  }
  expect((await send("unsent", transfer)).code).toBe(0)
})

test("a damaged record is shown as damaged, never treated as missing, and removed only by force", async () => {
  const before = new Set(await readdir(journal()))
  const payment = await setup.wallet.transfer()
  expect((await send("broken", payment)).code).toBe(0)
  const made = (await readdir(journal())).filter((name) => !before.has(name))
  for (const name of made) await truncate(join(journal(), name), 10)
  const file = expect.stringMatching(/\.json$/)
  const listed = await setup.svc(["payments", "list", "--json"])
  expect([listed.code, json(listed)]).toEqual([0, expect.arrayContaining([{ id: null, state: "damaged", file }])])
  const settled = await setup.svc(["payments", "settle", "--stack", "transfers", "--json"])
  expect(settled.code).toBe(3)
  expect(settled.stderr).toContain("Damaged records, which can't be settled: 1. Next: svc payments list")
  expect(await (await mcp()).call("settle_payments", {})).toMatchObject({
    hint: "Call list_payments, which shows what is damaged. Damaged records, which can't be settled: 1.",
  })
  expect(await (await mcp()).call("list_payments", { open: true })).toMatchObject({
    payments: [{ state: "damaged" }],
    hint: expect.stringMatching(/can still land\. Don't pay again: ask a person/),
  })
  for (const args of [
    ["payments", "show", "broken", "--json"],
    ["payments", "forget", "broken", "--json"],
  ]) {
    expectError(await setup.svc(args), "journal-damaged", "--force")
  }
  for (const args of [sendArgs("broken"), ["payments", "settle", "broken", "--stack", "transfers", "--json"]]) {
    expectError(await setup.svc(args, payment.base64), "journal-damaged", "--force", 3)
  }
  // The same id in another journal is another payment, which must not be forgotten.
  const there = `--journal ${journal()}`
  const [list, forget] = ["list", "forget"].map((command) => `svc payments ${command} ${there}`)
  const elsewhere = await setup.svc(["payments", "settle", "--stack", "transfers", "--journal", journal()])
  expect(elsewhere.stderr).toContain(`Next: ${list}`)
  const shown = await setup.svc(["payments", "show", "broken", "--json", "--journal", journal()])
  expectError(shown, "journal-damaged", `${forget} ID --force`)
  expectError(await setup.svc(["payments", "forget", "brokn", "--force", "--json"]), "payment-not-found")
  expect((await setup.svc(["payments", "forget", "broken", "--force"])).code).toBe(0)
  expect((await setup.svc(["payments", "list"])).stdout).not.toContain("damaged")
})

test("an invalid id and a read-only folder are clear errors, and nothing is sent", async () => {
  const { base64 } = await setup.wallet.transfer()
  expectError(await setup.svc(sendArgs("a\u0007"), base64), "invalid-id")
  const unwritable = await setup.svc([...sendArgs("x"), "--journal", "/dev/null/payments"], base64)
  // A payment that can't be read may be open.
  expectError(unwritable, "journal-unavailable", "Next:", 3)
})

describe("with a provider that returns wrong results", () => {
  // A lie about the simulation ends a payment before it begins, and nobody notices a chain whose whole history is gone.
  const told = Object.entries(providerLies).filter(([, [methods]]) => methods?.[0] !== "simulateTransaction")
  const about = (body: string) =>
    told.filter(([, [methods]]) => (methods as readonly string[] | undefined)?.includes(methodOf(body)) ?? true)
  let turn = 0
  /** Every second response is a lie: another one each time, or always the one that is named. */
  const nowAndThen = (name?: string) => (body: string) => {
    const lies = about(body).filter(([one]) => name === undefined || one === name)
    return turn++ % 2 === 0 ? lies[(turn >> 1) % lies.length]?.[1][1] : undefined
  }
  const always = (name: string) => (body: string) => about(body).find(([one]) => one === name)?.[1][1]
  const kept = told.filter(([name]) => name !== "has lost its history")
  const lies: readonly (readonly [string, (body: string) => Lie | undefined])[] = [
    ["tells another lie at every second request", nowAndThen()],
    ...(full ? told : []).map(([name]) => [`now and then ${name}`, nowAndThen(name)] as const),
    ...(full ? kept : []).map(([name]) => [`always ${name}`, always(name)] as const),
  ]
  /** The bytes that the provider accepts and loses. */
  const lost = new Map<string, string>()
  /** Those of them that it was sent. */
  const seen = new Set<string>()
  const providerWho =
    (lie: (body: string) => Lie | undefined) =>
    (body: string): Lie | undefined => {
      const { params } = JSON.parse(body) as { readonly params?: readonly unknown[] }
      const signature = methodOf(body) === "sendTransaction" ? lost.get(String(params?.[0])) : undefined
      if (signature === undefined) return lie(body)
      seen.add(signature)
      return saying({ result: signature })
    }

  type Payment = { readonly id: string; readonly base64: string; readonly signature: string }
  type Ended = { readonly state?: unknown; readonly error?: { readonly code?: unknown } }
  const options = ["--stack", "transfers", "--json"]
  const settling = new Set(["svc payments settle", "settle_payments"])
  const paths: Readonly<Record<string, (payment: Payment) => Promise<unknown>>> = {
    "svc send": async ({ base64 }) => json(await setup.svc(["send", ...options], base64)),
    "svc send --id": async ({ id, base64 }) => json(await setup.svc(sendArgs(id), base64)),
    "svc payments settle": async ({ id }) =>
      (json(await setup.svc(["payments", "settle", id, ...options])) as unknown[])[0],
    submit_payment: async ({ id, base64 }) => (await mcp()).call("submit_payment", { id, transaction: base64 }),
    settle_payments: async ({ id }) =>
      ((await (await mcp()).call("settle_payments", { id }))["payments"] as unknown[])[0],
  }

  test.each(lies)(
    "that %s: every command and tool reports what became of its payment",
    { tags: ["long"], timeout: 120_000 },
    async (name, lie) => {
      for (const lands of [true, false]) {
        const made = Object.entries(paths).map(async ([path, run], index) => {
          const recipient = await setup.wallet.newAddress()
          const { base64, signature } = await setup.wallet.transfer(1_000_000n, undefined, recipient)
          return { path, run, recipient, base64, signature, id: `${name} ${lands} ${index}` }
        })
        const payments = await Promise.all(made)
        if (!lands) for (const { base64, signature } of payments) lost.set(base64, signature)
        answerTo = providerWho(() => undefined)
        const open = payments.filter(({ path }) => settling.has(path))
        await Promise.all(open.map(({ id, base64 }) => setup.svc([...sendArgs(id), "--timeout", "2"], base64)))
        answerTo = providerWho(lie)
        const ends = payments.map(async (payment) => {
          for (;;) {
            const ended = (await payment.run(payment)) as Ended
            if (ended.state !== "undecided") return [payment.path, ended.error?.code ?? ended.state]
          }
        })
        const ended = Promise.all(ends)
        // Bytes whose blockhash expires before they are simulated are never sent.
        if (!lands) await expect.poll(() => payments.every(({ signature }) => seen.has(signature))).toBe(true)
        const said = await setup.inFastTime(ended, ...(lands ? payments.map(({ signature }) => signature) : []))
        expect(said).toEqual(payments.map(({ path }) => [path, lands ? "landed" : "expired"]))
        for (const { recipient } of payments) {
          expect(await setup.wallet.balanceOf(recipient)).toBe(lands ? 1_000_000n : 0n)
        }
      }
    },
  )
})

test("a payment whose end can't be proven any more is for a person to decide, and nothing says to call again", async () => {
  const { base64, signature } = await setup.wallet.transfer()
  // The provider accepts it and loses it.
  answerTo = (body) => (methodOf(body) === "sendTransaction" ? saying({ result: signature }) : undefined)
  onTestFinished(() => void (answerTo = () => undefined))
  expect((await setup.svc([...sendArgs("late"), "--timeout", "4"], base64)).code).toBe(3)
  setup.skip(70_000_000)
  const ended = await setup.svc([...sendArgs("late"), "--journal", journal()], base64)
  expect(ended.code).toBe(3)
  expect(json(ended)).toMatchObject({
    state: "undecided",
    lastError: { code: "journal-stale" },
    next: `Look in an archive of the chain whether it was paid. Then: svc payments forget --journal ${journal()} late --force`,
  })
  expect(await (await mcp()).call("submit_payment", { id: "late", transaction: base64 })).toMatchObject({
    state: "undecided",
    next: expect.stringMatching(/^Don't call again and don't pay again/),
  })
})
