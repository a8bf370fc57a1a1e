import { expect, test } from "vitest"
import { createSession, type Platform } from "../src/index.ts"
import { createVirtualClock } from "./virtual-clock.ts"

const tokenOf = (count: number): string => {
  const payload = Buffer.from(JSON.stringify({ iat: 1_000, exp: 1_300, count })).toString("base64url")
  return `e30.${payload}.c2ln`
}

const open = (answer: (count: number) => Promise<string> = async (count) => tokenOf(count)) => {
  const { clock, run } = createVirtualClock()
  let minted = 0
  const asked: object[] = []
  const platform: Pick<Platform, "mintSession"> = {
    mintSession: async (session) => {
      asked.push(session)
      return { token: await answer(++minted), expires_at: 0, token_type: "Bearer", scope: "" }
    },
  }
  const session = createSession({
    platform,
    websocketUrl: "wss://s.example",
    scope: ["read", "transaction:send"],
    clock,
  })
  return { session, asked, clock, run }
}

test("simultaneous callers share one token, which is minted once with the scopes as text", async () => {
  const { session, asked } = open()
  const tokens = await Promise.all(Array.from({ length: 50 }, () => session.token()))
  expect(new Set(tokens).size).toBe(1)
  expect(asked).toEqual([{ websocket_url: "wss://s.example", scope: "read transaction:send" }])
})

test("a token is renewed at 80 % of its lifetime, by a monotonic clock", async () => {
  const { session, asked, clock, run } = open()
  const first = await session.token()
  await run(clock.sleep(239_999))
  expect(await session.token()).toBe(first)
  await run(clock.sleep(1))
  expect(await session.token()).not.toBe(first)
  expect(asked).toHaveLength(2)
})

test("an unavailable or slow platform goes unnoticed while the token is valid", async () => {
  for (const failing of [() => Promise.reject(new Error("away")), () => new Promise<string>(() => {})]) {
    const { session, clock, run } = open((count) => (count === 1 ? Promise.resolve(tokenOf(1)) : failing()))
    const first = await session.token()
    await run(clock.sleep(250_000))
    expect(await run(session.token())).toBe(first)
  }
})

test("an expired token is never returned; the platform's error is thrown", async () => {
  const { session, clock, run } = open((count) =>
    count === 1 ? Promise.resolve(tokenOf(1)) : Promise.reject(new Error("away")),
  )
  await session.token()
  await run(clock.sleep(300_000))
  await expect(session.token()).rejects.toThrow("away")
})

test("a rejected token is minted again once, for all rejected requests", async () => {
  const { session, asked } = open()
  const first = await session.token()
  const renewed = await Promise.all(Array.from({ length: 10 }, () => session.renew(first)))
  expect(new Set(renewed).size).toBe(1)
  expect(renewed[0]).not.toBe(first)
  expect(await session.renew(first)).toBe(renewed[0])
  expect(asked).toHaveLength(2)
})

test("a failed mint is retried by the next caller", async () => {
  const { session } = open((count) => (count === 1 ? Promise.reject(new Error("away")) : Promise.resolve(tokenOf(2))))
  await expect(session.token()).rejects.toThrow("away")
  expect(await session.token()).toBe(tokenOf(2))
})

test("a mint that never ends, as that of a request that Cloudflare Workers ended, holds callers up for 15 s alone", async () => {
  const { session, asked, clock, run } = open((count) =>
    count === 1 ? new Promise<string>(() => {}) : Promise.resolve(tokenOf(count)),
  )
  const tokens = await run(Promise.all(Array.from({ length: 10 }, () => session.token())))
  expect([new Set(tokens).size, asked.length, clock.now()]).toEqual([1, 2, 15_000])
})

test("a token that isn't a JWT is assumed to live as long as any other", async () => {
  const { session, clock, run } = open(async (count) => `opaque-${count}`)
  expect(await session.token()).toBe("opaque-1")
  await run(clock.sleep(241_000))
  expect(await session.token()).toBe("opaque-2")
})
