import { startPostgres } from "@svc/testing"
import { expect, onTestFinished, test } from "vitest"
import { startService, testFolder } from "./start-service.ts"

const fine = [200, { status: "ok", missing: [] }] as const

test("a platform without its database is alive, not ready, and becomes ready again by itself", async () => {
  const postgres = await startPostgres()
  onTestFinished(postgres.stop)
  const { url } = await startService("platform-api", { DATABASE_URL: postgres.url, SVC_DATA_DIR: await testFolder() })
  const ask = async (path: string): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`${url}${path}`)
    return [answer.status, await answer.json()]
  }
  expect([await ask("/livez"), await ask("/readyz")]).toEqual([fine, fine])
  await postgres.halt()
  expect(await ask("/readyz")).toEqual([503, { status: "unavailable", missing: ["database"] }])
  expect(await ask("/livez")).toEqual(fine)
  await postgres.resume()
  await expect.poll(() => ask("/readyz")).toEqual(fine)
})
