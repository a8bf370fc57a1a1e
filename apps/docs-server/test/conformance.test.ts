import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { createFixtureServer } from "./fixture-server.ts"
import { testFolder } from "../../../test/start-service.ts"
import { testServer } from "./start.ts"

const suite = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
)

const runSuite = async (
  url: string,
  revision: string,
  expectedFailures: string,
): Promise<{ code: number; output: string }> => {
  const args = [suite, "server", "--url", `${url.replace("127.0.0.1", "localhost")}/mcp`, "--suite", "all"]
  args.push(
    "--spec-version",
    revision,
    "--expected-failures",
    join(import.meta.dirname, expectedFailures),
    "-o",
    await testFolder(),
  )
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
    const server = await testServer({}, factory)
    const { code, output } = await runSuite(server.url, revision, `${expected}-${revision}.yml`)
    expect([code, output.includes("Unexpected") ? output.slice(output.indexOf("Unexpected")) : ""]).toEqual([0, ""])
  })
})
