import { startPostgres } from "@svc/testing"
import { expect, onTestFinished, test, vi } from "vitest"
import { startService, testFolder } from "./start-service.ts"

const start = async (...given: Parameters<typeof startService>) => {
  const { url } = await startService(...given)
  return async (path: string): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`${url}${path}`)
    return [answer.status, await answer.json()]
  }
}

const fine = [200, { status: "ok", missing: [] }] as const

test("a relay without a key to verify tokens with is alive, and not ready", async () => {
  const env = { SVC_TRANSACTIONS_ENABLED: "true", SVC_TRANSACTION_RPC_URL: "http://127.0.0.1:9" }
  const ask = await start("relay", { ...env, SVC_SESSION_JWKS_URL: "http://127.0.0.1:9", SVC_SESSION_AUDIENCE: "x" })
  expect(await ask("/livez")).toEqual(fine)
  expect(await ask("/readyz")).toEqual([503, { status: "unavailable", missing: ["session-keys"] }])
  const open = await start("relay", env)
  expect(await open("/readyz")).toEqual(fine)
})

test("a platform whose database is away is alive, not ready, and ready again by itself", async () => {
  const postgres = await startPostgres()
  onTestFinished(postgres.stop)
  const ask = await start("platform-api", { DATABASE_URL: postgres.url, SVC_DATA_DIR: await testFolder() })
  expect([await ask("/livez"), await ask("/readyz")]).toEqual([fine, fine])
  await postgres.halt()
  expect(await ask("/readyz")).toEqual([503, { status: "unavailable", missing: ["database"] }])
  expect(await ask("/livez")).toEqual(fine)
  await postgres.resume()
  await vi.waitFor(async () => expect(await ask("/readyz")).toEqual(fine), { timeout: 10_000 })
})
