import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const packages = readdirSync(join(root, "packages"))

test.each(packages)("packages/%s says what it does, shows it, and says what it must never do", (name) => {
  const text = read(`packages/${name}/README.md`)
  expect(text).toMatch(/```ts\n/)
  expect(text).toContain("What it must never do: ")
})

/** The names that a package's entry files export. */
const exportsOf = (name: string): string[] =>
  Object.values<string>(JSON.parse(read(`packages/${name}/package.json`)).exports).flatMap((file) => {
    const text = read(`packages/${name}/${file}`)
    const lists = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = ""]) => list.split(","))
    const names = lists.map((one) => one.split(" as ").at(-1)?.trim() ?? "")
    return names.concat([...text.matchAll(/^export const (\w+)/gm)].map(([, one = ""]) => one))
  })
const sourceOf = (name: string): string =>
  readdirSync(join(root, `packages/${name}/src`), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => read(`packages/${name}/src/${file}`))
    .join("\n")
const withIndex = packages.filter((name) => existsSync(join(root, `packages/${name}/src/index.ts`)))

test("CONTRIBUTING.md lists every package with functions that it exports, one of which has an @example", () => {
  const rows = [...read("CONTRIBUTING.md").matchAll(/^\| `([a-z-]+)` \| [^|]+ \| (.+) \|$/gm)]
  expect(rows.map(([, name]) => name)).toEqual(packages)
  for (const [, name = "", cell = ""] of rows.filter(([, one = ""]) => withIndex.includes(one))) {
    const named = [...cell.matchAll(/`(\w+)`/g)].map(([, one = ""]) => one)
    const exported = exportsOf(name)
    expect(named.filter((one) => !exported.includes(one))).toEqual([])
    if (name !== "testing") expect(sourceOf(name), name).toContain(" * @example\n")
  }
})

test.each(withIndex)("the example in packages/%s/README.md uses only functions that it exports", (name) => {
  const own = [...sourceOf(name).matchAll(/^export const (\w+) = (?:async )?[(<]/gm)].map(([, one = ""]) => one)
  const example = /```ts\n([\s\S]*?)```/.exec(read(`packages/${name}/README.md`))?.[1] ?? ""
  const exported = exportsOf(name)
  const hidden = own.filter((one) => !exported.includes(one) && new RegExp(`(?<![.\\w])${one}\\(`).test(example))
  expect(hidden).toEqual([])
})

test("the tree in README.md has every app", () => {
  const tree = read("README.md")
  expect(readdirSync(join(root, "apps")).filter((name) => !tree.includes(`\napps/${name} `))).toEqual([])
})

test.each([
  ["packages/common/README.md", "packages/common/src"],
  ["docs/README.md", "docs/decisions"],
])("%s lists every file of %s", (page, folder) => {
  const names = readdirSync(join(root, folder)).filter((name) => !name.includes(".test."))
  const listed = read(page)
  expect(names.filter((name) => !listed.includes(name.replace(/\.\w+$/, "")))).toEqual([])
})

test("docs/README.md has the title of each decision", () => {
  const rows = [...read("docs/README.md").matchAll(/\((decisions\/[a-z-]+\.md)\) \| (.+) \|$/gm)]
  const wrong = rows.filter(([, file = "", title]) => read(`docs/${file}`).split("\n")[0] !== `# ${title}`)
  expect(wrong.map(([row]) => row)).toEqual([])
})

test("every file that the README of an app or a package names exists", () => {
  const pages = ["packages", "apps"].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => `${kind}/${name}/README.md`),
  )
  const missing = pages.flatMap((page) => {
    const there = readdirSync(join(root, page, ".."), { recursive: true, encoding: "utf8" })
    const isThere = (name: string): boolean => there.some((file) => file === name || file.endsWith(`/${name}.ts`))
    const paths = [...read(page).matchAll(/`((?:src|test|scripts|bench|migrations)\/[\w./-]+\.\w+)`/g)]
    const [, rows = ""] = /^\| File \|.*\n.*\n((?:\|.*\n)+)/m.exec(read(page)) ?? []
    const cells = [...rows.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = ""]) =>
      cell.replaceAll(/`|\.ts\b/g, "").split(", "),
    )
    const named = paths.map(([, path = ""]) => path).concat(cells)
    return named.filter((name) => !isThere(name)).map((name) => `${page}: ${name}`)
  })
  expect(missing).toEqual([])
})

test("every name of the code that CONTRIBUTING.md or a decision quotes is in the code", () => {
  const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n")
  const code = tracked.filter((file) => /\.(?:[cm]?[jt]sx?|json|ya?ml|sql)$/.test(file)).map(read)
  const known = new Set(code.flatMap((text) => text.match(/\w+/g) ?? []))
  // Of Node and of pnpm.
  for (const foreign of ["httpAllowHalfOpen", "maxConnections", "devEngines"]) known.add(foreign)
  const pages = tracked.filter((file) => /^(?:CONTRIBUTING\.md|docs\/decisions\/|packages\/.*\.md)/.test(file))
  const quoted = pages.flatMap((page) =>
    [
      ...read(page)
        .replaceAll(/^```[^]*?^```/gm, "")
        .matchAll(/`[^`\n]+`/g),
    ].flatMap(([text]) => (text.match(/\b[a-z]+[A-Z]\w+/g) ?? []).map((name) => ({ page, name }))),
  )
  expect(quoted.filter(({ name }) => !known.has(name))).toEqual([])
})
