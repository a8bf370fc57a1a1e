import { readdirSync, readFileSync } from "node:fs"
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
