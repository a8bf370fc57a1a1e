import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { faults } from "../src/server/faults.ts"

test("the page Streams has every code of the stream, with its status and whether it is fatal", () => {
  const page = readFileSync(new URL("../../../apps/docs-server/content/streams.md", import.meta.url), "utf8")
  const told = [...page.matchAll(/^\| `([a-z-]+)` \| (\d+) \| (yes|no) \|/gm)].map(([, ...cells]) => cells)
  // The codes for tokens are those of every verifier.
  const own = Object.entries(faults).filter(
    ([code]) => code === "token-expired" || !/^(?:token|origin|insuff)/.test(code),
  )
  const codes = own.map(([code, fault]) => [code, `${fault.status}`, "fatal" in fault ? "yes" : "no"])
  expect(told).toEqual(codes)
})

test("the README has every method that a provider needs", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
  const called = [...read("../src/source/chain.ts").matchAll(/\brpc\.(\w+)\(/g)].map(([, name = ""]) => name)
  expect(called.length).toBeGreaterThan(3)
  expect(called.filter((name) => !read("../README.md").includes(`\`${name}\``))).toEqual([])
})
