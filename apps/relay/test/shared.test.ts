// @module-tag long
import { setTimeout as delay } from "node:timers/promises"
import { publicJwks } from "@svc/session-token"
import { postJson, redisProgram, startFaultyNetwork, startRedis } from "@svc/testing"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { base58 } from "@svc/common/base58"
import { beforeTests, startService } from "../../../test/start-service.ts"
import { result } from "./fake-rpc.ts"
import { fileRpc, startIssuer } from "./fixture.ts"
import { firstSignatureOf, memo } from "@svc/testing/solana"
import { anySigner, anyTransaction, signedTransaction } from "./transactions.ts"

type Service = Awaited<ReturnType<typeof startService>>
type Answer = { readonly status: number; readonly code: string | undefined; readonly state: string | undefined }

describe.skipIf(redisProgram() === undefined && process.env["CI"] === undefined)("several relays on one store", () => {
  const redis = beforeTests(startRedis, ({ stop }) => stop())
  const rpc = fileRpc((r) => result(r, "1"))
  const issuer = beforeTests(() => startIssuer(Date.now))
  let prefixes = 0
  let prefix: string
  let token: string
  beforeEach(async () => {
    prefix = `relays${++prefixes}`
    token = await issuer.token({ sub: `agent:${prefix}` })
    rpc.script((r) => result(r, "1"))
    rpc.requests.length = 0
  })
  afterEach(() => rpc.cut())

  const start = (env: Record<string, string> = {}): Promise<Service> =>
    startService("relay", {
      SVC_TRANSACTIONS_ENABLED: "true",
      SVC_TRANSACTION_RPC_URL: rpc.url,
      SVC_SESSION_PUBLIC_KEY: JSON.stringify(publicJwks(issuer.keys)),
      SVC_SESSION_AUDIENCE: "transfers",
      SVC_LIMITS_URL: redis.url,
      SVC_LIMITS_PREFIX: prefix,
      SVC_LIMITS_REPLICAS: "3",
      // The machine may be busy, and these tests are about who is admitted, not when.
      SVC_LIMITS_TIMEOUT_MS: "2000",
      ...env,
    })
  const post = async ({ url }: Service, route: string, body: unknown): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await postJson(`${url}/transactions/v1/${route}`, body, headers)
    const { code, submissionState } = (await response.json()) as { code?: string; submissionState?: string }
    return { status: response.status, code, state: submissionState }
  }
  const mode = async ({ url }: Service): Promise<unknown> =>
    ((await (await fetch(`${url}/health`)).json()) as { limits?: unknown }).limits

  test("600 concurrent calls on three relays with a limit of 60, in the default time: exactly 60 are admitted", async () => {
    const env = { SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: "60", SVC_LIMITS_TIMEOUT_MS: "" }
    const relays = await Promise.all([1, 2, 3].map(() => start(env)))
    expect(await Promise.all(relays.map(mode))).toEqual(["shared", "shared", "shared"])
    const answers = await Promise.all(
      Array.from({ length: 600 }, (_, index) => post(relays[index % 3] ?? expect.fail("no relay"), "block-height", {})),
    )
    const statuses = answers.map(({ status }) => status)
    // A request counts even if no place is free.
    expect(statuses.filter((status) => status === 200 || status === 503)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(540)
  })

  test("after kill -9 of a relay with all places, another relay gets them when the leases end", async () => {
    const env = { SVC_TRANSACTION_SEND_CONCURRENCY: "1", SVC_TRANSACTION_SEND_TIMEOUT_MS: "5000" }
    const [dying, other] = [await start(env), await start(env)]
    const transaction = await anyTransaction()
    rpc.script(() => ({ after: "stall" }))
    const held = post(dying, "send", { transaction }).catch(() => "gone")
    await rpc.received(1)
    expect(await post(other, "send", { transaction })).toMatchObject({ status: 503, state: "not_submitted" })
    dying.child.kill("SIGKILL")
    expect(await held).toBe("gone")
    rpc.script((r) => result(r, JSON.stringify(base58(firstSignatureOf(transaction)))))
    await expect.poll(() => post(other, "send", { transaction }), { interval: 500 }).toMatchObject({ status: 200 })
  })

  test("the store slow, frozen, full, killed and restarted under load: never a 5xx for it, never over twice the limit", async () => {
    const limit = 30
    const path = await startFaultyNetwork(redis.port)
    const latest =
      '{"context":{"slot":1},"value":{"blockhash":"11111111111111111111111111111111","lastValidBlockHeight":1}}'
    rpc.script((r) => result(r, r.method === "getBlockHeight" ? "1" : latest))
    const env = {
      SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: String(limit),
      SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: "1000000",
      SVC_LIMITS_TIMEOUT_MS: "50",
      SVC_LIMITS_URL: `redis://127.0.0.1:${path.port}`,
    }
    const relays = await Promise.all([1, 2, 3].map(() => start(env)))
    const over = new AbortController()
    const seen = new Map<number, number>()
    const loop = async (relay: Service): Promise<void> => {
      while (!over.signal.aborted) {
        const { status } = await post(relay, "block-height", {})
        seen.set(status, (seen.get(status) ?? 0) + 1)
        // A request over a limit doesn't ask the store; this one does.
        expect((await post(relay, "latest-blockhash", {})).status).toBe(200)
        await delay(20)
      }
    }
    const loops = relays.map(loop)
    const all = (wanted: string) => expect.poll(() => Promise.all(relays.map(mode))).toEqual(Array(3).fill(wanted))
    const harms: readonly (readonly [() => unknown, () => unknown])[] = [
      [() => redis.signal("SIGSTOP"), () => redis.signal("SIGCONT")],
      [() => redis.command("CONFIG SET maxmemory 1"), () => redis.command("CONFIG SET maxmemory 0")],
      [() => redis.halt(), () => redis.resume()],
      [() => path.delayAnswers(1500), () => path.delayAnswers(0)],
    ]
    for (const [harm, mend] of harms) {
      await harm()
      await all("local")
      await mend()
      await all("shared")
    }
    over.abort()
    await Promise.all(loops)
    await path.close()
    expect([...seen.keys()].sort((a, b) => a - b)).toEqual([200, 429])
    expect(seen.get(200)).toBeLessThanOrEqual(2 * limit)
  })

  test("a rolling restart under load: no request is lost, and no send is sent twice", async () => {
    const many = { SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: "100000", SVC_TRANSACTION_SEND_CONCURRENCY: "1000" }
    const relays = [await start(many), await start(many)]
    rpc.script((r) => result(r, JSON.stringify(base58(firstSignatureOf(String(r.params[0]))))))
    const payer = await anySigner()
    const over = new AbortController()
    let sent = 0
    const sendOne = async (): Promise<void> => {
      const transaction = await signedTransaction(payer, [memo(Buffer.from(String(++sent)))])
      // Like a proxy: the next relay if one refuses the connection, or rejects the request unsent.
      for (let attempt = 0; ; attempt++) {
        const relay = relays[attempt % relays.length] ?? expect.fail("no relay")
        const answer = await post(relay, "send", { transaction }).catch((error: unknown) => {
          const { cause } = error as { cause?: { code?: string } }
          if (cause?.code === "ECONNREFUSED") return undefined
          throw error
        })
        if (answer?.status === 200) return
        if (answer !== undefined) expect(answer).toMatchObject({ status: 503, state: "not_submitted" })
        await delay(10)
      }
    }
    const loop = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await sendOne()
        await delay(20)
      }
    }
    const loops = [loop(), loop(), loop(), loop()]
    for (const index of [0, 1]) {
      const old = relays[index] ?? expect.fail("no relay")
      const next = await start(many)
      relays[index] = next
      expect(await old.stop()).toBe(0)
    }
    over.abort()
    await Promise.all(loops)
    const carried = rpc.requests.map(({ params }) => params[0])
    expect(carried).toHaveLength(sent)
    expect(new Set(carried).size).toBe(sent)
  })
})
