import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const packages = readdirSync(join(root, "packages"))

test.each(packages)("packages/%s tells what it gives, shows it, and says what it must never do", (name) => {
  const text = read(`packages/${name}/README.md`)
  expect(text).toMatch(/```ts\n/)
  expect(text).toContain("What it must never do: ")
})

test("the tree in README.md has every app and package", () => {
  const told = new Set([...read("README.md").matchAll(/\b(?:apps|packages)\/[a-z-]+/g)].map(([path]) => path))
  const there = ["apps", "packages"].flatMap((kind) => readdirSync(join(root, kind)).map((name) => `${kind}/${name}`))
  expect(there.filter((path) => !told.has(path))).toEqual([])
})

test.each([
  ["packages/common/README.md", "packages/common/src"],
  ["docs/README.md", "docs/decisions"],
])("%s lists every file of %s", (page, folder) => {
  const names = readdirSync(join(root, folder)).filter((name) => !name.includes(".test."))
  const listed = read(page)
  expect(names.filter((name) => !listed.includes(name.replace(/\.\w+$/, "")))).toEqual([])
})

test("every file that the README of an app or a package names is there", () => {
  const pages = [
    ...packages.map((name) => `packages/${name}/README.md`),
    ...["docs-server", "relay", "platform-api", "cli"].map((name) => `apps/${name}/README.md`),
  ]
  const missing = pages.flatMap((page) =>
    [...read(page).matchAll(/`((?:src|test|scripts|bench|migrations)\/[\w./-]+\.\w+)`/g)]
      .filter(([, file = ""]) => !existsSync(join(root, page, "..", file)))
      .map(([, file]) => `${page}: ${file}`),
  )
  expect(missing).toEqual([])
})
