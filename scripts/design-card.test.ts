import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"

const root = join(import.meta.dirname, "..")
const page = readFileSync(join(root, "docs/decisions/design-card.md"), "utf8")
const [structure = "", libraries = ""] = page.split("## Libraries")

/** The first two cells of each row, without the heading. */
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| (.+?) \| (.+?) \|/gm)].slice(1).map(([, item = "", where = ""]) => ({
    item: item.replaceAll("`", ""),
    where: [...where.matchAll(/`(.+?)`/g)].map(([, path = ""]) => path),
  }))

const dependencies = z.record(z.string(), z.string()).default({})
const manifest = z.object({ dependencies, devDependencies: dependencies })
const dependenciesOf = (folder: string): readonly string[] => {
  const read = manifest.parse(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")))
  return Object.keys({ ...read.dependencies, ...read.devDependencies })
}

test("the design card names every top-level folder", () => {
  const folders = execFileSync("git", ["ls-tree", "-d", "--name-only", "HEAD"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((name) => name !== "" && !name.startsWith("."))
  expect(folders.filter((name) => !structure.includes(`\`${name}\``))).toEqual([])
})

test("the design card names each package that a library runs in", () => {
  const folders = ["apps", "packages"].flatMap((kind) => readdirSync(join(root, kind)).map((name) => `${kind}/${name}`))
  const production = (folder: string): string[] =>
    Object.keys(manifest.parse(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))).dependencies)
  const missing = rowsOf(libraries).flatMap(({ item, where }) =>
    folders
      .filter((folder) => production(folder).includes(item) && !where.includes(folder))
      .map((folder) => ({ item, folder })),
  )
  expect(missing).toEqual([])
})

test("the design card names only existing files and folders, and libraries that are used where it says", () => {
  const paths = rowsOf(structure).flatMap(({ where }) => where)
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  const uses = rowsOf(libraries).flatMap(({ item, where }) => where.map((folder) => ({ item, folder })))
  expect(uses.filter(({ item, folder }) => !dependenciesOf(folder).includes(item))).toEqual([])
  expect(uses.map(({ item }) => item)).toEqual(expect.arrayContaining(["hono", "postgres", "undici", "turbo"]))
})
