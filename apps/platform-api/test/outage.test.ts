import { mintKey } from "@svc/keys"
import { startPostgres, type TestPostgres } from "@svc/testing"
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { signalServer } from "./chaos/server-processes.ts"
import { startTestService, type TestService } from "./service.ts"
import { startStallingProxy, type StallingProxy } from "./stalling-proxy.ts"

// Whole processes are started here, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

/** How the database can go away, and come back. */
const outages = {
  refused: {
    begin: (_: TestPostgres, proxy: StallingProxy) => void (proxy.mode = "refuse"),
    end: (_: TestPostgres, proxy: StallingProxy) => void (proxy.mode = "pass"),
  },
  silent: {
    begin: (_: TestPostgres, proxy: StallingProxy) => void (proxy.mode = "stall"),
    end: (_: TestPostgres, proxy: StallingProxy) => void (proxy.mode = "pass"),
  },
  stopped: { begin: (server: TestPostgres) => server.halt(), end: (server: TestPostgres) => server.resume() },
  frozen: {
    begin: async (server: TestPostgres) => signalServer(server, "SIGSTOP"),
    end: async (server: TestPostgres) => signalServer(server, "SIGCONT"),
  },
} as const

describe.each(Object.keys(outages) as (keyof typeof outages)[])("while the database is %s", (how) => {
  let server: TestPostgres
  let proxy: StallingProxy
  let service: TestService
  let key: string
  beforeAll(async () => {
    server = await startPostgres()
    proxy = await startStallingProxy(server.port)
    service = await startTestService("postgres", {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
    })
    ;({ key } = await service.signUp())
    await outages[how].begin(server, proxy)
  })
  afterAll(async () => {
    await service.close()
    await proxy.close()
    await server.stop()
  })

  test("what needs it is told 503 to try again, whatever state its connections are in", async () => {
    for (let round = 0; round < 3; round++) {
      const { status, code, body, headers } = await service.call("GET", "/api/agents/me", { key })
      expect([status, code, body.retryable]).toEqual([503, "service-unavailable", true])
      expect(headers.get("retry-after")).toBe("1")
    }
    for (const [method, path] of [
      ["POST", "/api/agents/signup"],
      ["POST", "/api/agents/me/keys"],
      ["GET", "/api/registry"],
    ] as const) {
      const given = path.endsWith("signup") ? {} : { key }
      expect((await service.call(method, path, given)).code, path).toBe("service-unavailable")
    }
  })

  test("health says degraded, liveness goes on, keyless registry reads go on, made-up keys are refused", async () => {
    const health = await service.call("GET", "/health")
    expect([health.status, health.body.status, health.body.database]).toEqual([503, "degraded", "unavailable"])
    expect((await service.call("GET", "/livez")).status).toBe(200)
    expect((await service.call("GET", "/api/registry")).status).toBe(200)
    const typo = `${mintKey("ak", randomBytes, randomBytes(32)).slice(0, -1)}!`
    expect((await service.call("GET", "/api/agents/me", { key: typo })).code).toBe("invalid-api-key")
  })

  test("it all recovers by itself, and nothing is left half-made", async () => {
    const count = async () =>
      (await service.database().query<{ n: number }>("select count(*)::int as n from users", []))[0]?.n
    await outages[how].end(server, proxy)
    await expect.poll(async () => (await service.call("GET", "/health")).status, { timeout: 20_000 }).toBe(200)
    expect((await service.call("GET", "/api/agents/me", { key })).status).toBe(200)
    expect(await count()).toBe(1)
    await service.signUp()
    expect(await count()).toBe(2)
  })
})

test("a long silence does not pile up connections", async () => {
  const server = await startPostgres()
  const proxy = await startStallingProxy(server.port)
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
  const service = await startTestService("postgres", { DATABASE_URL: url })
  const { key } = await service.signUp()
  proxy.mode = "stall"
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 30 }, () => service.call("GET", "/api/agents/me", { key })))
  }
  // A connection is two sockets here; ten in the pool, one that listens, and what was just cut.
  expect(proxy.open()).toBeLessThanOrEqual(2 * 22)
  proxy.mode = "pass"
  await service.close()
  await proxy.close()
  await server.stop()
})
