import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createFixtureServer } from "./fixture-server.ts"
import { start } from "./start.ts"

const suite = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
)
let out: string

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), "svc-conformance-"))
})
afterAll(() => rm(out, { recursive: true, force: true }))

const runSuite = (
  url: string,
  revision: string,
  expectedFailures: string,
): Promise<{ code: number; output: string }> => {
  const args = [suite, "server", "--url", `${url.replace("127.0.0.1", "localhost")}/mcp`, "--suite", "all"]
  args.push("--spec-version", revision, "--expected-failures", join(import.meta.dirname, expectedFailures), "-o", out)
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr })
    })
  })
}

const servers = [
  ["the server passes the official suite but for the listed scenarios", "conformance", undefined],
  [
    "with the suite's own tools behind it, the HTTP layer passes what needs them",
    "conformance-fixtures",
    createFixtureServer,
  ],
] as const

describe.each(servers)("%s", (_, expected, factory) => {
  test.each(["2025-11-25", "2026-07-28"])("for %s", async (revision) => {
    const server = await start({}, factory)
    try {
      const { code, output } = await runSuite(server.url, revision, `${expected}-${revision}.yml`)
      expect([code, output.includes("Unexpected") ? output.slice(output.indexOf("Unexpected")) : ""]).toEqual([0, ""])
    } finally {
      await server.close()
    }
  })
})
