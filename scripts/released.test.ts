import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { additions, changedNames, currentSurface, releasedSurface, removals, type Surface } from "./released.ts"

const changelog = readFileSync(join(import.meta.dirname, "../CHANGELOG.md"), "utf8")
const unreleased = /\n## Unreleased\n([\s\S]*?)(?=\n## |$)/.exec(changelog)?.[1] ?? ""

const [before, now] = [releasedSurface(), currentSurface()]
const again = `Until ${now.version} is released, \`pnpm bump ${now.version}\` writes the baseline again`

test("no endpoint or required field is added without a new version", () => {
  const added = now.version === before.version ? additions(before.operations, now.operations) : []
  expect(added, `say in CHANGELOG.md and skill.md what is new, then \`pnpm bump\` the version. ${again}`).toEqual([])
})

test.each(["responses", "callers", "names"] as const)(
  "nothing that compatibility.md promises is removed or renamed within a major version: %s",
  (what) => {
    const [major, then] = [now.version, before.version].map((version) => version.split(".")[0])
    expect(major === then ? removals(before[what], now[what]) : [], again).toEqual([])
  },
)

test("CHANGELOG.md lists every operation, setting, command and option that differs from the baseline", () => {
  const missing = changedNames(before, now).filter((name) => !unreleased.includes(name))
  expect(missing, `name them below "## Unreleased". ${again}`).toEqual([])
})

test("additions, removals and changes are noticed", () => {
  const baseline: Surface = {
    version: "1.0.0",
    operations: { "relay POST /a": ["x"] },
    responses: { "relay POST /a": ["m", "m.n"], "relay GET /c": [] },
    callers: { "relay POST /a": ["session"] },
    names: { "errors of relay": ["forbidden 403"] },
    settings: { "relay PORT": "4002" },
    commands: { watch: ["json"] },
  }
  const changed: Surface = {
    ...baseline,
    operations: { "relay POST /a": ["x", "y"], "relay GET /b": [] },
    responses: { "relay POST /a": ["m", "m.o"] },
    settings: { "relay PORT": "4003", "relay SVC_NEW": "" },
    commands: { watch: ["json", "take"], use: [] },
  }
  expect(additions(baseline.operations, changed.operations)).toEqual(["relay POST /a requires y", "relay GET /b"])
  expect(removals(baseline.responses, changed.responses)).toEqual(["relay POST /a: m.n", "relay GET /c"])
  expect(changedNames(baseline, changed)).toEqual(["/a", "/b", "PORT", "SVC_NEW", "--take", "svc use"])
})
