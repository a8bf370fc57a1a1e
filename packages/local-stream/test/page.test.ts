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
