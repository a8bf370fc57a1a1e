import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { testFolder } from "../../../test/start-service.ts"
import { testServer } from "./start.ts"

const suite = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
)

test.each(["2025-11-25", "2026-07-28"])(
  "the server passes the official suite for %s but for the listed scenarios",
  async (revision) => {
    const { port } = await testServer()
    const list = join(import.meta.dirname, `conformance-${revision}.yml`)
    const args = [suite, "server", "--url", `http://localhost:${port}/mcp`, "--suite", "all"]
    args.push("--spec-version", revision, "--expected-failures", list, "-o", await testFolder())
    const ended = await new Promise((resolve) => {
      execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
        const output = stdout + stderr
        resolve([error?.code ?? 0, output.includes("Unexpected") ? output.slice(output.indexOf("Unexpected")) : ""])
      })
    })
    expect(ended).toEqual([0, ""])
  },
)
