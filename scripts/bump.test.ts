import { execFileSync } from "node:child_process"
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import cli from "../apps/cli/package.json" with { type: "json" }
import { parse } from "yaml"
import { z } from "zod"
import { testFolder } from "../test/start-service.ts"
import { setVersion, versionsIn } from "./bump.ts"

const root = join(import.meta.dirname, "..")
const skill = "apps/docs-server/content/skill.md"

test("packages are checked against the pinned Node, and images have its major version", () => {
  const workspace: unknown = parse(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"))
  const { nodeVersion, catalogs } = z
    .object({ nodeVersion: z.string(), catalogs: z.object({ node: z.record(z.string(), z.string()) }) })
    .parse(workspace)
  expect(new Set(Object.values(catalogs.node))).toEqual(new Set([nodeVersion]))
  const [major] = nodeVersion.split(".")
  expect(readFileSync(join(root, "infra/Dockerfile"), "utf8")).toContain(`/node:${major}-`)
})

test("everything that is published has one version", () => {
  expect(versionsIn(root).filter(({ version }) => version !== cli.version)).toEqual([])
})

test("an image's version is written in one place only", () => {
  const known = new Set(versionsIn(root).map(({ file }) => file))
  const found = execFileSync("git", ["grep", "-lE", String.raw`svc/(docs-server|relay|platform-api):[0-9]`], {
    cwd: root,
  })
  const elsewhere = found
    .toString()
    .split("\n")
    .filter((file) => file !== "" && !file.endsWith(".test.ts"))
  expect(elsewhere.filter((file) => !known.has(file))).toEqual([])
})

test("CHANGELOG.md describes the published version", () => {
  expect(readFileSync(join(root, "CHANGELOG.md"), "utf8")).toContain(`\n## ${cli.version}\n`)
})

/** A copy of what has a version in it. */
const copy = async (): Promise<string> => {
  const folder = await testFolder()
  for (const file of new Set(["CHANGELOG.md", ...versionsIn(root).map((one) => one.file)])) {
    cpSync(join(root, file), join(folder, file), { recursive: true })
  }
  return folder
}

const edit = (file: string, from: string, to: string): void =>
  writeFileSync(file, readFileSync(file, "utf8").replace(from, to))

test("a new version is written everywhere, once the changelog and the skill file describe it", async () => {
  const folder = await copy()
  const wanted = "91.2.3"
  expect(() => setVersion(folder, wanted)).toThrow(/CHANGELOG\.md says nothing about 91\.2\.3/)
  edit(join(folder, "CHANGELOG.md"), "\n## ", `\n## ${wanted}\n\nnothing\n\n## `)
  expect(() => setVersion(folder, wanted)).toThrow(/CHANGELOG\.md/)
  edit(join(folder, "CHANGELOG.md"), "\nnothing\n", "\n- Something.\n")
  expect(() => setVersion(folder, wanted)).toThrow(/skill\.md doesn't say what is new/)
  edit(join(folder, skill), "## What's new\n", `## What's new\n\nVersion ${wanted}: something.\n`)
  const before = versionsIn(folder)
  setVersion(folder, wanted)
  expect(versionsIn(folder)).toEqual(before.map(({ file }) => ({ file, version: wanted })))
})

test("bump rejects an invalid or older version, and changes nothing", async () => {
  const folder = await copy()
  const before = versionsIn(folder)
  for (const wrong of ["", "1.1", "v1.1.0", "1.1.0-rc1", "0.9.9"]) {
    expect(() => setVersion(folder, wrong), wrong).toThrow(/isn't a version|is older/)
  }
  setVersion(folder, cli.version)
  expect(versionsIn(folder)).toEqual(before)
})
