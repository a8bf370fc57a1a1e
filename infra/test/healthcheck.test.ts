import { once } from "node:events"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { type Server, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { freePort, startProcess } from "@svc/testing"
import { afterEach, beforeEach, expect, test } from "vitest"

let root: string
let server: Server | undefined
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-health-"))
})
afterEach(async () => {
  server?.close()
  await rm(root, { recursive: true, force: true })
})

const serving = async (answers: Record<string, number>): Promise<string> => {
  server = createServer((request, response) => response.writeHead(answers[request.url ?? ""] ?? 404).end())
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return String((server.address() as AddressInfo).port)
}

const check = async (folder: string, env: Record<string, string>) => {
  const cwd = join(root, folder)
  await mkdir(cwd, { recursive: true })
  return startProcess(process.execPath, [join(import.meta.dirname, "../healthcheck.ts")], { cwd, env }).exited
}

test("a service that answers is healthy, whichever address it was told to listen on", async () => {
  const port = await serving({ "/livez": 200 })
  for (const HOST of ["0.0.0.0", "::", "", "127.0.0.1"]) {
    expect(await check("apps/relay", { PORT: port, HOST })).toBe(0)
  }
})

test("an outage of the platform's database does not make its image unhealthy", async () => {
  const port = await serving({ "/health": 503, "/readyz": 503, "/livez": 200 })
  expect(await check("apps/platform-api", { PORT: port })).toBe(0)
})

test("a service that refuses or does not answer is unhealthy", async () => {
  expect(await check("apps/relay", { PORT: await serving({ "/livez": 503 }) })).toBe(1)
  expect(await check("apps/relay", { PORT: String(await freePort()) })).toBe(1)
})
