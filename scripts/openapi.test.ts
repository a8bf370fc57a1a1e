import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"

const root = join(import.meta.dirname, "..")

test("`pnpm openapi` in a clean checkout, without a service, changes no committed file", () => {
  const copy = mkdtempSync(join(tmpdir(), "svc-checkout-"))
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
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
