import { mintKey } from "@svc/keys"
import { type FaultyNetwork, startFaultyNetwork, startPostgres, type TestPostgres } from "@svc/testing"
import { randomBytes } from "node:crypto"
import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { openSockets } from "./chaos/open-sockets.ts"
import { signalServer } from "./chaos/server-processes.ts"
import { beforeTests, serviceInTest, testService } from "./service.ts"

type Scene = { readonly server: TestPostgres; readonly network: FaultyNetwork }

/** How the database can go away, and come back. */
const outages = {
  refused: {
    begin: ({ network }: Scene) => network.cutAfter(() => 0),
    end: ({ network }: Scene) => network.cutAfter(undefined),
  },
  silent: { begin: ({ network }: Scene) => network.hold("all"), end: ({ network }: Scene) => network.hold("nothing") },
  stopped: { begin: ({ server }: Scene) => server.halt(), end: ({ server }: Scene) => server.resume() },
  frozen: {
    begin: ({ server }: Scene) => signalServer(server, "SIGSTOP"),
    end: ({ server }: Scene) => signalServer(server, "SIGCONT"),
  },
} as const

describe.each(Object.keys(outages) as (keyof typeof outages)[])("while the database is %s", (how) => {
  const server = beforeTests(startPostgres, ({ stop }) => stop())
  const network = beforeTests(
    () => startFaultyNetwork(server.port),
    ({ close }) => close(),
  )
  const service = testService("postgres", () => ({
    DATABASE_URL: `postgres://postgres@127.0.0.1:${network.port}/postgres`,
  }))
  const agent = beforeTests(() => service.signUp())
  beforeAll(() => outages[how].begin({ server, network }))

  test("routes that need it return a retryable 503, whatever state the connections are in", async () => {
    for (let round = 0; round < 3; round++) {
      const { status, code, body, headers } = await service.call("GET", "/api/agents/me", { key: agent.key })
      expect([status, code, body.retryable]).toEqual([503, "service-unavailable", true])
      expect(headers.get("retry-after")).toBe("1")
    }
    for (const [method, path] of [
      ["POST", "/api/agents/signup"],
      ["POST", "/api/agents/me/keys"],
      ["GET", "/api/registry"],
    ] as const) {
      const given = path.endsWith("signup") ? {} : { key: agent.key }
      expect(await service.code(method, path, given), path).toBe("service-unavailable")
    }
  })

  test("it is degraded and not ready; liveness and keyless registry reads work, and invalid keys are rejected", async () => {
    const health = await service.call("GET", "/health")
    expect([health.status, health.body.status, health.body.database]).toEqual([503, "degraded", "unavailable"])
    const ready = await service.call("GET", "/readyz")
    expect([ready.status, ready.body]).toEqual([503, { status: "unavailable", missing: ["database"] }])
    expect((await service.call("GET", "/livez")).body).toEqual({ status: "ok", missing: [] })
    expect((await service.call("GET", "/api/registry")).status).toBe(200)
    const typo = `${mintKey("ak", randomBytes, randomBytes(32)).slice(0, -1)}!`
    expect(await service.faultOf(typo)).toBe("invalid-api-key")
  })

  test("everything recovers by itself, and nothing is half-written", async () => {
    const count = async () =>
      (await service.database().query<{ n: number }>("select count(*)::int as n from users", []))[0]?.n
    await outages[how].end({ server, network })
    await expect.poll(async () => (await service.call("GET", "/health")).status).toBe(200)
    expect((await service.call("GET", "/readyz")).body).toEqual({ status: "ok", missing: [] })
    expect((await service.call("GET", "/api/agents/me", { key: agent.key })).status).toBe(200)
    expect(await count()).toBe(1)
    await service.signUp()
    expect(await count()).toBe(2)
  })
})

test("a long silence doesn't accumulate connections", { tags: ["long"] }, async () => {
  const server = await startPostgres()
  onTestFinished(server.stop)
  const network = await startFaultyNetwork(server.port)
  onTestFinished(network.close)
  const url = `postgres://postgres@127.0.0.1:${network.port}/postgres`
  const service = await serviceInTest("postgres", { DATABASE_URL: url })
  const { key } = await service.signUp()
  network.hold("all")
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 30 }, () => service.call("GET", "/api/agents/me", { key })))
  }
  // Ten in the pool, and one that listens.
  const open = await openSockets(process.pid, network.port)
  expect(open).toBeLessThanOrEqual(11)
  expect(open).toBeGreaterThan(0)
  network.hold("nothing")
})
