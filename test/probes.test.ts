import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, startPostgres, startProcess } from "@svc/testing"
import { afterEach, expect, test, vi } from "vitest"

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

const start = async (app: string, env: Readonly<Record<string, string>> = {}) => {
  const data = await mkdtemp(join(tmpdir(), "svc-probes-"))
  cleanUps.push(() => rm(data, { recursive: true, force: true }))
  const port = await freePort()
  const child = startProcess(process.execPath, ["src/main.ts"], {
    cwd: join(import.meta.dirname, "../apps", app),
    env: { PORT: String(port), SVC_DATA_DIR: data, ...env },
  })
  cleanUps.push(async () => {
    child.kill("SIGKILL")
    await child.exited
  })
  await child.waitFor(/"listening"/)
  return async (path: string): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return [answer.status, await answer.json()]
  }
}

const fine = [200, { status: "ok", missing: [] }] as const

test("the documentation server is alive and ready", async () => {
  const ask = await start("docs-server")
  expect(await ask("/livez")).toEqual(fine)
  expect(await ask("/readyz")).toEqual(fine)
})

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
  cleanUps.push(postgres.stop)
  const ask = await start("platform-api", { DATABASE_URL: postgres.url })
  expect([await ask("/livez"), await ask("/readyz")]).toEqual([fine, fine])
  await postgres.halt()
  expect(await ask("/readyz")).toEqual([503, { status: "unavailable", missing: ["database"] }])
  expect(await ask("/livez")).toEqual(fine)
  await postgres.resume()
  await vi.waitFor(async () => expect(await ask("/readyz")).toEqual(fine), { timeout: 10_000 })
})
