// @module-tag long
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { testFolder } from "../test/start-service.ts"

const root = join(import.meta.dirname, "..")

test("`pnpm openapi` in a clean checkout, without a service, changes no committed file", async () => {
  const copy = await testFolder()
  const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n")
  const files = tracked.filter((file) => existsSync(join(root, file)))
  for (const file of files) cpSync(join(root, file), join(copy, file))
  const folders = ["apps", "packages"].flatMap((kind) => readdirSync(join(root, kind)).map((name) => join(kind, name)))
  for (const folder of ["", ...folders]) {
    const modules = join(root, folder, "node_modules")
    if (existsSync(modules)) symlinkSync(modules, join(copy, folder, "node_modules"))
  }
  execFileSync(process.execPath, ["scripts/openapi.ts"], { cwd: copy })
  const changed = files.filter((file) => {
    const now = join(copy, file)
    return !existsSync(now) || !readFileSync(now).equals(readFileSync(join(root, file)))
  })
  expect(changed).toEqual([])
  const made = readdirSync(join(copy, "apps/docs-server/content/reference"), { recursive: true, encoding: "utf8" })
  expect(made.toSorted()).toEqual(
    readdirSync(join(root, "apps/docs-server/content/reference"), { recursive: true, encoding: "utf8" }).toSorted(),
  )
})

const apps = ["relay", "platform-api", "docs-server"]
const operationsOf = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        responses: z.record(z.string(), z.object({ content: z.record(z.string(), z.unknown()).default({}) })),
      }),
    ),
  ),
})

// Generators of clients name the functions of an operation with several media types so: getPage and text/markdown, getPageMarkdown.
test.each(apps)("openapi.json of %s names no operation as another one with a media type", (app) => {
  const { paths } = operationsOf.parse(JSON.parse(readFileSync(join(root, "apps", app, "openapi.json"), "utf8")))
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const letters = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, "")
  const made = operations.flatMap(({ operationId, responses }) => {
    const types = Object.values(responses).flatMap(({ content }) => Object.keys(content))
    return types.map((type) => letters(operationId + type.replace(/^.*\//, "")))
  })
  const names = new Set(operations.map(({ operationId }) => letters(operationId)))
  expect(made.filter((name) => names.has(name))).toEqual([])
})

test.each(apps)("openapi.json of %s passes the linter without a warning", (app) => {
  const linter = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js")
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
  const args = [linter, "lint", app, "--config=scripts/redocly.yaml", "--format=json"]
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" })
  expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] })
})
