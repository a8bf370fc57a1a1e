import { startReceiver } from "@svc/testing"
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest"
import {
  createVerifier,
  generateSigningKey,
  KeysUnavailableError,
  publicJwks,
  readSigningKeys,
  remoteKeys,
  signSessionToken,
  TokenError,
} from "./index.ts"
import { claims, start } from "../test/claims.ts"

const keys = await readSigningKeys(await generateSigningKey())
const other = await readSigningKeys(await generateSigningKey())
const one = JSON.stringify(publicJwks(keys))
const both = JSON.stringify({ keys: [...publicJwks(keys).keys, ...publicJwks(other).keys] })

const mint = async (signer = keys): Promise<string> => (await signSessionToken(signer, claims, start)).token

// The timers of the code under test, and its clock; sockets keep their own.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }))
afterEach(() => void vi.useRealTimers())

/** A key set's server, and a verifier whose keys come from it. */
const startVerifier = async (body = one) => {
  const state = { status: 200, body, hangs: false, requests: 0 }
  const { url, answer, close } = await startReceiver()
  onTestFinished(close)
  answer((_, response) => {
    state.requests++
    if (!state.hangs) response.writeHead(state.status, { "content-type": "application/json" }).end(state.body)
  })
  const problems: string[] = []
  const source = remoteKeys({
    url: `${url}/jwks.json`,
    fetch,
    now: () => performance.now(),
    onProblem: (reason) => problems.push(reason),
  })
  const verifier = createVerifier({
    keys: source,
    issuer: "svc-platform",
    audiences: ["transfers"],
    now: () => start * 1000,
  })
  const codeOf = async (token: string): Promise<string> => {
    try {
      await verifier.verify(token, undefined)
    } catch (error) {
      if (error instanceof TokenError) return error.code
      if (error instanceof KeysUnavailableError) return "no keys"
      throw error
    }
    return "accepted"
  }
  return { state, source, problems, codeOf }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test("keys are fetched once before the first token for all who wait, and again after 5 minutes", async () => {
  const { state, source, codeOf } = await startVerifier()
  await expect.poll(() => source.current()).toBeDefined()
  const token = await mint()
  expect(await Promise.all(Array.from({ length: 20 }, () => codeOf(token)))).toEqual(Array(20).fill("accepted"))
  await pass(298_000)
  expect(state.requests).toBe(1)
  await pass(2_000)
  await expect.poll(() => state.requests).toBe(2)
})

test("until the first keys arrive they are fetched again, with or without requests, at increasing intervals", async () => {
  const { state, source, problems, codeOf } = await startVerifier("")
  for (const [index, body] of ['{"keys":[]}', "no json", JSON.stringify("x".repeat(70_000)), one].entries()) {
    await expect.poll(() => problems).toHaveLength(index + 1)
    expect(source.current()).toBeUndefined()
    expect(await codeOf(await mint())).toBe("no keys")
    state.body = body
    await pass(1_000 * 2 ** index)
  }
  await expect.poll(() => source.current()).toBeDefined()
  expect(state.requests).toBe(5)
  expect(await codeOf(await mint())).toBe("accepted")
})

test("while the URL is down or hangs, known keys are used without waiting", async () => {
  const { state, problems, codeOf } = await startVerifier()
  const token = await mint()
  expect(await codeOf(token)).toBe("accepted")
  state.status = 503
  await pass(300_000)
  await expect.poll(() => problems).toEqual(["status 503"])
  state.hangs = true
  await pass(1_000)
  await expect.poll(() => state.requests).toBe(3)
  // The third fetch is under way and hangs: neither a remembered token nor a new one waits for its end.
  expect(await codeOf(token)).toBe("accepted")
  expect(await codeOf(await mint())).toBe("accepted")
  expect(problems).toHaveLength(1)
})

test("an unreachable URL is retried at once and after 1, 2, 4 … 60 s, and each reason has its cause", async () => {
  const problems: string[] = []
  const unreachable = Object.assign(new TypeError("fetch failed"), { cause: new Error("connect ECONNREFUSED") })
  const refuse = () => Promise.reject(unreachable)
  const source = remoteKeys({
    url: "http://platform.test/jwks.json",
    fetch: refuse,
    now: () => performance.now(),
    onProblem: (reason) => problems.push(reason),
  })
  await pass(3_600_000)
  expect(problems.length).toBeLessThan(70)
  expect(new Set(problems)).toEqual(new Set(["fetch failed: connect ECONNREFUSED"]))
  // Requests may ask once a second, and add no line.
  for (let second = 0; second < 10; second++) {
    await expect(source.find("any")).rejects.toThrow(KeysUnavailableError)
    await pass(1_000)
  }
  expect(problems.length).toBeLessThan(70)
})

test("an unknown key id causes a fetch at most every 10 s, which finds a new key", async () => {
  const { state, codeOf } = await startVerifier()
  const token = await mint(other)
  for (let i = 0; i < 5; i++) expect(await codeOf(token)).toBe("token-key-not-found")
  expect(state.requests).toBe(1)
  state.body = both
  await pass(10_000)
  expect(await codeOf(token)).toBe("accepted")
  expect(state.requests).toBe(2)
})

test("a key that was removed from the set is dropped within 5 minutes, even for cached tokens", async () => {
  const { state, source, codeOf } = await startVerifier()
  const token = await mint()
  expect(await codeOf(token)).toBe("accepted")
  const before = source.current()
  state.body = JSON.stringify(publicJwks(other))
  await pass(300_000)
  await expect.poll(() => source.current()).not.toBe(before)
  expect(await codeOf(token)).toBe("token-key-not-found")
})

test("a malformed key is skipped with one warning; the others are used", async () => {
  const bad = { kty: "OKP", crv: "Ed25519", kid: "bad", x: "AAAA" }
  const { state, problems, codeOf } = await startVerifier(
    JSON.stringify({ keys: [bad, { ...bad, x: 7 }, null, { kty: "RSA" }, ...publicJwks(keys).keys] }),
  )
  expect(await codeOf(await mint())).toBe("accepted")
  for (const count of [2, 3]) {
    await pass(300_000)
    await expect.poll(() => state.requests).toBe(count)
  }
  expect(problems).toEqual(["the key at keys[0] is malformed", "the key at keys[1] is malformed"])
})
