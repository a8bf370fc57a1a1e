import { execFileSync } from "node:child_process"
import { symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { testFolder } from "../../../test/start-service.ts"
import committed from "../openapi.json" with { type: "json" }
import { isOwnPath, loadCorpus } from "../src/corpus/corpus.ts"
import { writeFiles } from "./pages.ts"

let dir: string
beforeEach(async () => {
  dir = await testFolder()
})

const write = (files: Parameters<typeof writeFiles>[1]) => writeFiles(dir, files)

test.each([
  [
    "a slug is the path without extension, a folder's index the folder's",
    ["index.md", "guides/index.mdx", "guides/one.md", "b.txt", ".git/x.md"],
    ["guides", "guides/one", "index"],
  ],
  [
    "a page and a folder of the same name are both served",
    ["guides.md", "guides/index.md"],
    ["guides", "guides/index"],
  ],
])("%s", async (_, files, slugs) => {
  await write(Object.fromEntries(files.map((file) => [file, "text"])))
  expect([...(await loadCorpus(dir)).pages.keys()].sort()).toEqual(slugs)
})

test("a title comes from the front matter, or the first heading, or the last part of the path", async () => {
  await write({
    "a.md": "---\ntitle: 'Front: matter'\n---\n# Heading\n",
    "b.md": "text\n\n## `Code` heading\n",
    "c/some-page.md": "text",
    "d.md": "---\ntitle: null\n---\n# Kept\n",
    "e.md": "---\nno map\n---\n",
  })
  const { pages } = await loadCorpus(dir)
  expect([...pages.values()].map(({ slug, title }) => [slug, title])).toEqual([
    ["a", "Front: matter"],
    ["b", "Code heading"],
    ["c/some-page", "some-page"],
    ["d", "Kept"],
    ["e", "no map"],
  ])
})

test("names in braces are replaced on request, in fences too, and left alone otherwise", async () => {
  await write({ "a.md": "see {base_url}\n\n```\ncurl {base_url}/x\n```\n" })
  const filled = await loadCorpus(dir, { fill: { base_url: "https://docs.example" } })
  expect(filled.pages.get("a")?.markdown).toBe("see https://docs.example\n\n```\ncurl https://docs.example/x\n```\n")
  expect((await loadCorpus(dir)).pages.get("a")?.markdown).toContain("{base_url}")
})

test.each([
  ["bad front matter", { "x.md": "---\ntitle: What's new: v2\n---\n" }, /x\.md: Nested .* at line 2, column 8$/],
  ["bytes that are no UTF-8", { "x.md": new Uint8Array([0xff, 0xfe]) }, /x\.md: .*not valid/],
  [
    "front matter of 30,000 keys",
    { "x.md": `---\n${Array.from({ length: 30_000 }, (_, i) => `k${i}: 1\n`).join("")}---\n` },
    /x\.md: its front matter has more than 16384 characters/,
  ],
  ["a file of more than 4 MiB", { "x.md": "x".repeat(2 ** 22 + 1) }, /x\.md: it is larger than 4 MiB/],
  ["two files with one slug", { "x.md": "a", "x.mdx": "b" }, /x\.mdx: another file has the same slug/],
  [
    "a skill under another name",
    { "skills/a/SKILL.md": "---\nname: b\ndescription: c\n---\n" },
    /SKILL\.md: its name must be/,
  ],
])("a page that can't be read stops the start with its path and the reason: %s", async (_, files, message) => {
  await write(files)
  await expect(loadCorpus(dir)).rejects.toThrow(message)
})

test("a missing folder is reported by name", async () => {
  await expect(loadCorpus(join(dir, "none"))).rejects.toThrow(/none: ENOENT/)
})

test("a link out of the folder isn't a page", async () => {
  const outside = await testFolder()
  await writeFile(join(outside, "secret.md"), "secret")
  await write({ "a.md": "a" })
  await symlink(join(outside, "secret.md"), join(dir, "b.md"))
  await symlink(outside, join(dir, "c"))
  await symlink(join(dir, "a.md"), join(dir, "d.md"))
  expect([...(await loadCorpus(dir)).pages.keys()]).toEqual(["a", "d"])
})

test("a page at one of the server's paths is a warning", async () => {
  await write({ "mcp.md": "a", "cli/x.md": "b", "other.md": "c" })
  expect((await loadCorpus(dir)).warnings).toEqual([
    "cli/x.md: the path /cli/x is the server's own; served as /cli/x.md and .html only",
    "mcp.md: the path /mcp is the server's own; served as /mcp.md and .html only",
  ])
  const fixed = Object.keys(committed.paths).filter((path) => !/^\/(?:$|\{)|^\/\w+\.md$/.test(path))
  expect(fixed.filter((path) => !isOwnPath(path.slice(1)))).toEqual([])
})

test("the version changes with any page or skill file, of both of which fetch_page gives cursors, and with nothing else", async () => {
  await write({ "a.md": "a", "b.md": "b" })
  const first = (await loadCorpus(dir)).version
  expect((await loadCorpus(dir)).version).toBe(first)
  await write({ "b.md": "c" })
  expect((await loadCorpus(dir)).version).not.toBe(first)
  const second = (await loadCorpus(dir)).version
  await write({ "skills/a/SKILL.md": "---\nname: a\ndescription: b\n---\n# A\n" })
  const third = (await loadCorpus(dir)).version
  await write({ "skills/a/SKILL.md": "---\nname: a\ndescription: b\n---\n# B\n" })
  expect(new Set([second, third, (await loadCorpus(dir)).version]).size).toBe(3)
})

test("a pipe with the name of a page isn't a page, and is never opened", async () => {
  await write({ "a.md": "a" })
  execFileSync("mkfifo", [join(dir, "b.md")])
  await symlink(join(dir, "b.md"), join(dir, "c.md"))
  expect([...(await loadCorpus(dir)).pages.keys()]).toEqual(["a"])
})
