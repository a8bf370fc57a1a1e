import { createHash } from "node:crypto"
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { type Reply, serve, startServer } from "./server.ts"
import { expectError, json, makeTool, runProgram } from "./tool.ts"

// With a byte order mark, which decoding would drop: what counts are the bytes.
const text = (name: string): string => `\ufeff---\nname: ${name}\n---\n`
const digest = (content: string): string => `sha256:${createHash("sha256").update(content).digest("hex")}`
const entry = (name: string) => ({
  name,
  type: "skill-md",
  description: "d",
  url: `https://docs.example/skills/${name}/SKILL.md`,
  digest: digest(text(name)),
})
const names = ["svc", "svc-consume", "svc-build"]

let skills: unknown
let served: (name: string) => string
let project: string
const tool = await makeTool()
const server = await startServer(({ target }): Reply => {
  if (target === "/.well-known/agent-skills/index.json") return { body: { skills } }
  const name = /^\/skills\/([^/]+)\/SKILL\.md$/.exec(target)?.[1]
  const error = { code: "not_found", message: "No such page.", hint: "h" }
  return name === undefined ? { status: 404, body: { error } } : { body: served(name) }
})
beforeEach(async () => {
  skills = names.map(entry)
  served = text
  server.received.length = 0
  await rm(join(tool.home, "config"), { recursive: true, force: true })
  project = await mkdtemp(join(tool.home, "project-"))
})

const init = (...args: string[]) =>
  tool.svc(["init", "--json", ...args], { cwd: project, env: { SVC_DOCS_URL: server.url } })

const files = (folder: string, result: string) =>
  names.map((name) => ({ path: `${folder}/skills/${name}/SKILL.md`, result }))

test("the three skill files are created once, left alone if correct and repaired if not", async () => {
  expect(json(await init())).toEqual({ files: files(".agents", "created") })
  for (const name of names) {
    expect(await readFile(join(project, `.agents/skills/${name}/SKILL.md`), "utf8")).toBe(text(name))
  }
  const { mtimeMs } = await stat(join(project, ".agents/skills/svc/SKILL.md"))
  expect(json(await init())).toEqual({ files: files(".agents", "unchanged") })
  expect((await stat(join(project, ".agents/skills/svc/SKILL.md"))).mtimeMs).toBe(mtimeMs)
  await writeFile(join(project, ".agents/skills/svc-build/SKILL.md"), "old")
  const [first, second, third] = files(".agents", "unchanged")
  expect(json(await init())).toEqual({ files: [first, second, { ...third, result: "updated" }] })
  expect(await readdir(project)).toEqual([".agents"])
})

test("a link inside the project is followed within it, and never out of it", async () => {
  await mkdir(join(project, ".claude"))
  await symlink("../.agents/skills", join(project, ".claude/skills"))
  expect(json(await init())).toEqual({ files: [...files(".agents", "created"), ...files(".claude", "unchanged")] })
  const outside = await mkdtemp(join(tool.home, "outside-"))
  await rm(join(project, ".agents/skills/svc"), { recursive: true })
  await symlink(outside, join(project, ".agents/skills/svc"))
  const refused = await init()
  expect([refused.code, json(refused)]).toMatchObject([1, { code: "skills-unwritable" }])
  expect(await readdir(outside)).toEqual([])
  await rm(join(project, ".agents/skills/svc"))
  await mkdir(join(project, ".agents/skills/svc"))
  await symlink(join(outside, "profile"), join(project, ".agents/skills/svc/SKILL.md"))
  expect(json(await init())).toMatchObject({ code: "skills-unwritable" })
  expect(await readdir(outside)).toEqual([])
})

test("a project with a .claude folder gets the skills there too; --dir selects another project", async () => {
  await mkdir(join(project, "other/.claude"), { recursive: true })
  const ended = await init("--dir", "other")
  expect(json(ended)).toEqual({
    files: [...files("other/.agents", "created"), ...files("other/.claude", "created")],
  })
  expect(await readdir(project)).toEqual(["other"])
})

test("the URLs of the options become the current context, in addition to existing ones", async () => {
  // As a manager of dotfiles has it.
  const path = join(tool.home, "dotfiles-config.json")
  await mkdir(join(tool.home, "config/svc"), { recursive: true })
  await symlink("../../dotfiles-config.json", join(tool.home, "config/svc/config.json"))
  await writeFile(path, JSON.stringify({ other: 1, contexts: { default: { api_url: "https://old.example" } } }))
  const args = ["init", "--api-url", "https://API.example/", "--docs-url", server.url]
  const ended = await tool.svc(args, { cwd: project })
  expect(ended.code).toBe(0)
  expect(ended.stdout).toMatch(/^RESULT +FILE\ncreated +\.agents\/skills\/svc\/SKILL\.md\n/)
  const contexts = {
    default: { api_url: "https://old.example" },
    "api.example": { docs_url: server.url, api_url: "https://api.example" },
  }
  const config = { other: 1, contexts, current: "api.example" }
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual(config)
  const { mtimeMs } = await stat(path)
  expect((await tool.svc(args, { cwd: project })).code).toBe(0)
  expect((await stat(path)).mtimeMs).toBe(mtimeMs)
  const plain = await tool.svc(["init", "--json"], { cwd: project })
  expect(json(plain)).toEqual({ files: files(".agents", "unchanged") })
})

test("if one file doesn't match the index, none is written", async () => {
  served = (name) => (name === "svc-build" ? "tampered" : text(name))
  expectError(await init(), "skill-digest-mismatch", "svc-build")
  expect(await readdir(project)).toEqual([])
})

test.each([
  ["a name that leads elsewhere", [...names.map(entry), { ...entry("svc"), name: "../../evil" }]],
  ["a skill missing", names.slice(1).map(entry)],
  ["a skill twice", [...names, "svc"].map(entry)],
  ["a digest missing", names.map((name) => ({ ...entry(name), digest: undefined }))],
  ["a digest of another kind", names.map((name) => ({ ...entry(name), digest: "md5:00" }))],
  ["a url missing", names.map((name) => ({ ...entry(name), url: undefined }))],
  ["an archive", names.map((name) => ({ ...entry(name), type: "archive" }))],
  ["an entry that isn't an object", [...names.map(entry), null]],
  ["no list", "svc"],
])("an index with %s is rejected, and nothing is written", async (_, list) => {
  skills = list
  expectError(await init(), "invalid-skill-index")
  expect(await readdir(project)).toEqual([])
  await expect(stat(join(tool.home, "config"))).rejects.toThrow(/ENOENT/)
})

test("other skills are left alone, and only the documentation server is called", async () => {
  skills = [...names, "further"].map(entry)
  expect(json(await init())).toEqual({ files: files(".agents", "created") })
  expect(server.received.map(({ target }) => target).sort()).toEqual(
    ["/.well-known/agent-skills/index.json", ...names.map((name) => `/skills/${name}/SKILL.md`)].sort(),
  )
})

test("a server without skills fails with its own code", async () => {
  const body = { error: { code: "not_found", message: "None.", hint: "h" } }
  const bare = await serve(() => ({ status: 404, body }))
  expectError(await tool.svc(["init", "--json", "--docs-url", bare.url], { cwd: project }), "not_found")
})

test("in a folder that was deleted meanwhile it fails instead of hanging", async () => {
  const gone = `rmdir "$PWD" && exec "$@"`
  const call = ["node", await tool.file(), "init", "--json", "--docs-url", server.url]
  const ended = await runProgram("sh", ["-c", gone, "sh", ...call], { cwd: project, env: { HOME: tool.home } })
  expectError(ended, "skills-unwritable")
})
