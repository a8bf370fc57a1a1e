import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { createClient } from "redis"
import { setTimeout as delay } from "node:timers/promises"
import { startFaultyNetwork, startRedis, type TestRedis } from "@svc/testing"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { beforeTests } from "../../../test/start-service.ts"
import type { Bucket, Limits } from "../src/index.ts"
import { reasonOf } from "../src/store.ts"
import { hasStore, open } from "./open.ts"

const bucket = (limit: number, key = "k"): Bucket => ({ table: "t", group: "g", key, limit })
const lease = 60_000

describe.skipIf(!hasStore)("limits in a store", () => {
  const redis = beforeTests(startRedis, ({ stop }) => stop())
  let running: Limits[]
  let told: string[]
  let clock: number
  let prefixes = 0
  let prefix: string
  beforeEach(() => {
    running = []
    told = []
    clock = 0
    prefix = `test${++prefixes}`
  })
  afterEach(() => Promise.all(running.map((limits) => limits.close())))

  const start = async (options: Parameters<typeof open>[0] = {}): Promise<Limits> => {
    const limits = await open({
      url: redis.url,
      prefix,
      timeoutMs: 2000,
      now: () => performance.now() + clock,
      onAway: () => told.push("away"),
      onBack: () => told.push("back"),
      ...options,
    })
    running.push(limits)
    return limits
  }
  const take = async (limits: Limits, ...buckets: Bucket[]) => limits.take(buckets)
  const admitted = async (limits: Limits, times: number, one: Bucket): Promise<number> => {
    const all = await Promise.all(Array.from({ length: times }, () => take(limits, one)))
    return all.filter(({ allowed }) => allowed).length
  }
  const enter = async (limits: Limits, limit: number) =>
    limits.enter({ places: [{ pool: "send", limit }], leaseMs: lease })

  test("a store that rejects the password is unavailable: the log has its text without the password", async () => {
    const guarded = await startRedis()
    try {
      await guarded.command("CONFIG SET requirepass right")
      const reasons: unknown[] = []
      const url = guarded.url.replace("//", "//:wrong@")
      const limits = await start({ url, onAway: (reason) => reasons.push(reason) })
      expect([limits.mode(), (await take(limits, bucket(1))).allowed]).toEqual(["local", true])
      expect(reasons).toEqual([expect.stringMatching(/^WRONGPASS invalid username-password pair(?!.*wrong@)/)])
      const old = reasonOf(new Error("ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `hunter2`"))
      expect(old).toBe("ERR unknown command `HELLO`")
    } finally {
      await guarded.stop()
    }
  })

  test("an IPv6 address in the store's URL isn't looked up as a name", async () => {
    // The client connects and gets as far as its handshake.
    const server = createServer(() => {})
    await once(server.listen(0, "::1"), "listening")
    const reasons: unknown[] = []
    const { port } = server.address() as AddressInfo
    await start({ url: `redis://[::1]:${port}`, onAway: (reason) => reasons.push(reason) })
    server.close()
    expect(reasons.join()).not.toContain("NOTFOUND")
  })

  test("places never exceed the setting over all replicas, and are free again after return", async () => {
    const [a, b] = [await start(), await start()]
    const entries = await Promise.all([a, b, a, b, a, b].map((limits) => enter(limits, 2)))
    const inside = entries.flatMap((entry) => ("leave" in entry ? [entry] : []))
    expect(inside).toHaveLength(2)
    expect(entries.find((entry) => "full" in entry)).toMatchObject({ full: { pool: "send" } })
    for (const { leave } of inside) leave()
    await expect.poll(() => enter(b, 2)).toHaveProperty("leave")
  })

  test("while the store is unavailable each replica admits its share, warns once, and keeps earlier counts", async () => {
    const limits = await start({ replicas: 3 })
    expect(await admitted(limits, 5, bucket(60))).toBe(5)
    await redis.halt()
    await expect.poll(() => limits.mode()).toBe("local")
    expect(await admitted(limits, 100, bucket(60))).toBe(15)
    expect(await admitted(limits, 100, bucket(2, "small"))).toBe(1)
    expect(await admitted(limits, 100, bucket(0, "none"))).toBe(0)
    const places = await Promise.all(Array.from({ length: 9 }, () => enter(limits, 7)))
    expect(places.filter((entry) => "leave" in entry)).toHaveLength(2)
    expect(told).toEqual(["away"])
    await redis.resume()
    await expect.poll(() => limits.mode()).toBe("shared")
    // It came back empty. For a minute both must admit, then the store alone.
    expect(await admitted(limits, 100, bucket(60))).toBe(0)
    expect(await admitted(limits, 100, bucket(60, "fresh"))).toBe(20)
    clock += 61_000
    expect(await admitted(limits, 100, bucket(60, "fresh"))).toBe(40)
    expect(told).toEqual(["away", "back"])
  })

  test("a store that fails again within a minute of its return is one outage, with one warning", async () => {
    const limits = await start()
    for (let i = 0; i < 2; i++) {
      await redis.halt()
      await expect.poll(() => limits.mode()).toBe("local")
      await redis.resume()
      await expect.poll(() => limits.mode()).toBe("shared")
    }
    expect(told).toEqual(["away"])
    clock += 61_000
    await take(limits, bucket(60))
    expect(told).toEqual(["away", "back"])
  })

  test("a distant store counts exactly if one call is in time, whatever a request needs", async () => {
    const path = await startFaultyNetwork(redis.port)
    const limits = await start({ url: `redis://127.0.0.1:${path.port}`, timeoutMs: 600 })
    path.delayAnswers(350)
    const early = { places: [{ pool: "send", limit: 3 }], leaseMs: lease }
    const all: ReturnType<typeof limits.take>[] = []
    // Some come together and some while calls are under way.
    for (let i = 0; i < 20; i++) {
      for (let j = 0; j < 3; j++) all.push(limits.take([bucket(10)], early))
      await delay(20)
    }
    const decisions = await Promise.all(all.map(async (decision) => decision))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
    const entries = decisions.flatMap(({ entry }) => entry ?? [])
    expect(entries.filter((entry) => "leave" in entry)).toHaveLength(3)
    expect(entries).toHaveLength(10)
    expect([limits.mode(), told]).toEqual(["shared", []])
    await path.close()
  })

  test("a store slower than a request's time stays unavailable, with one warning that states the limit", async () => {
    const path = await startFaultyNetwork(redis.port)
    const reasons: unknown[] = []
    const url = `redis://127.0.0.1:${path.port}`
    const limits = await start({ url, timeoutMs: 100, onAway: (reason) => reasons.push(reason) })
    path.delayAnswers(300)
    expect((await take(limits, bucket(60))).allowed).toBe(true)
    const probes = path.replies() + 3
    await expect.poll(() => path.replies()).toBeGreaterThan(probes)
    expect([limits.mode(), reasons]).toEqual(["local", ["no reply within 100 ms"]])
    await path.close()
  })

  test("a frozen store costs a request no more than its time, and a place granted too late is returned", async () => {
    const limits = await start({ timeoutMs: 50 })
    redis.signal("SIGSTOP")
    expect(await enter(limits, 1)).toHaveProperty("leave")
    expect(limits.mode()).toBe("local")
    expect((await take(limits, bucket(60))).allowed).toBe(true)
    redis.signal("SIGCONT")
    const other = await start()
    await expect.poll(() => enter(other, 1)).toHaveProperty("leave")
    await expect.poll(() => limits.mode()).toBe("shared")
  })

  test.each([
    ["rejects writes", (old: TestRedis) => old.command("REPLICAOF 127.0.0.1 1")],
    ["stays silent", async (old: TestRedis) => old.signal("SIGSTOP")],
  ])("a store that failed over is found, though the old one keeps the connection and %s", async (_what, demote) => {
    const old = await startRedis()
    const path = await startFaultyNetwork(old.port)
    const limits = await start({ url: `redis://127.0.0.1:${path.port}`, timeoutMs: 200 })
    path.lead(redis.port)
    await demote(old)
    await take(limits, bucket(60))
    expect([limits.mode(), told]).toEqual(["local", ["away"]])
    await expect.poll(() => limits.mode(), { timeout: 10_000 }).toBe("shared")
    await path.close()
    await old.stop()
  })

  test("flushed scripts are loaded again without an outage", async () => {
    const limits = await start()
    await redis.command("SCRIPT FLUSH")
    expect(await admitted(limits, 10, bucket(3))).toBe(3)
    expect(told).toEqual([])
  })

  test("every key has the prefix, one hash tag, no identity, and an expiry", async () => {
    const limits = await start()
    await take(limits, bucket(60, "agent:alice 192.0.2.1"))
    await limits.enter({ places: [{ pool: "send agent:alice", limit: 5 }], leaseMs: lease })
    const admin = await createClient({ url: redis.url }).connect()
    const keys = await admin.keys(`${prefix}:*`)
    expect(keys).toHaveLength(3)
    for (const key of keys) {
      expect(key).toMatch(new RegExp(`^${prefix}:\\{relay\\}:`))
      expect(key).not.toMatch(/alice|192/)
      expect(await admin.pTTL(key)).toBeGreaterThan(0)
    }
    admin.destroy()
  })

  test("the share depends on the replicas that were seen, and those that leave are forgotten", async () => {
    const [first, second] = [await start(), await start()]
    const third = await start()
    const admin = await createClient({ url: redis.url }).connect()
    const known = () => admin.zCard(`${prefix}:{relay}:v1:replicas`)
    expect(await known()).toBe(3)
    await Promise.all([first.close(), second.close()])
    expect(await known()).toBe(1)
    admin.destroy()
    await redis.halt()
    await expect.poll(() => third.mode()).toBe("local")
    expect(await admitted(third, 100, bucket(60))).toBe(20)
    await redis.resume()
  })
})
