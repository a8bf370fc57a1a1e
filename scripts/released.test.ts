import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { additions, changedNames, currentSurface, releasedSurface, type Surface } from "./released.ts"

const changelog = readFileSync(join(import.meta.dirname, "../CHANGELOG.md"), "utf8")
const unreleased = /\n## Unreleased\n([\s\S]*?)(?=\n## |$)/.exec(changelog)?.[1] ?? ""

test("an endpoint or a required field is never added under a version that had been released without it", () => {
  const [before, now] = [releasedSurface(), currentSurface()]
  const added = now.version === before.version ? additions(before.operations, now.operations) : []
  expect(added, "say in CHANGELOG.md and skill.md what is new, then `pnpm bump` the version").toEqual([])
})

test("CHANGELOG.md names every operation, setting, command and option that has changed since the last release", () => {
  const missing = changedNames(releasedSurface(), currentSurface()).filter((name) => !unreleased.includes(name))
  expect(missing, 'name them below "## Unreleased"').toEqual([])
})

test("additions and changes are noticed", () => {
  const before: Surface = {
    version: "1.0.0",
    operations: { "relay POST /a": ["x"] },
    settings: { "relay PORT": "4002" },
    commands: { watch: ["json"] },
  }
  const now: Surface = {
    ...before,
    operations: { "relay POST /a": ["x", "y"], "relay GET /b": [] },
    settings: { "relay PORT": "4003", "relay SVC_NEW": "" },
    commands: { watch: ["json", "take"], use: [] },
  }
  expect(additions(before.operations, now.operations)).toEqual(["relay POST /a requires y", "relay GET /b"])
  expect(changedNames(before, now)).toEqual(["/a", "/b", "PORT", "SVC_NEW", "--take", "svc use"])
})
