import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { freePort, startProcess } from "@svc/testing"
import { expect, test } from "vitest"
import { testFolder, testReceiver } from "../../test/start-service.ts"

const serving = async (answers: Record<string, number>): Promise<string> => {
  const { url, answer } = await testReceiver()
  answer((request, response) => response.writeHead(answers[request.url] ?? 404).end())
  return new URL(url).port
}

const check = async (folder: string, env: Record<string, string>) => {
  const cwd = join(await testFolder(), folder)
  await mkdir(cwd, { recursive: true })
  return startProcess(process.execPath, [join(import.meta.dirname, "../healthcheck.ts")], { cwd, env }).exited
}

test("a service that responds is healthy, whichever address it listens on", async () => {
  const port = await serving({ "/livez": 200 })
  for (const HOST of ["0.0.0.0", "::", "", "127.0.0.1"]) {
    expect(await check("apps/relay", { PORT: port, HOST })).toBe(0)
  }
})

test("an outage of the platform's database doesn't make its image unhealthy", async () => {
  const port = await serving({ "/health": 503, "/readyz": 503, "/livez": 200 })
  expect(await check("apps/platform-api", { PORT: port })).toBe(0)
})

test("a service that rejects connections or doesn't respond is unhealthy", async () => {
  expect(await check("apps/relay", { PORT: await serving({ "/livez": 503 }) })).toBe(1)
  expect(await check("apps/relay", { PORT: String(await freePort()) })).toBe(1)
})
