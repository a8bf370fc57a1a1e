import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { type Reply, startServer } from "./server.ts"
import { expectError, json, makeTool } from "./tool.ts"

/** What the registry serves: the version of each stack, and what changed since the first. */
let served: Record<string, { version: number; hash: string; older?: object[]; deprecated?: object }>
/** What a stream of changes says. */
let changes: string
let difference: { verdict: string; changes: object[] }

const at = "2026-01-01T00:00:00.000Z"
const published = { published_at: at, bump: "minor", verdict: "compatible", changes: 1, current: true }

const missing = (code: string): Reply => ({ status: 404, body: { code, error: "It is not there." } })

const answer = ({ target }: { readonly target: string }): Reply => {
  const { pathname, searchParams } = new URL(target, "http://server")
  if (pathname === "/api/registry/changes") {
    if (searchParams.has("limit")) return { body: { changes: [], next: 7 } }
    const body = searchParams.get("after") === "7" ? changes : ""
    return { headers: { "content-type": "text/event-stream" }, body }
  }
  const [, name = "", part] = /^\/api\/registry\/([^/]+)(?:\/(.+))?$/.exec(pathname) ?? []
  const stack = served[name]
  if (stack === undefined) return missing("stack-not-found")
  const { version, hash, older = [], ...rest } = stack
  const headers: Reply["headers"] = stack.deprecated === undefined ? {} : { deprecation: "@1" }
  const asked = Number(searchParams.get("version") ?? version)
  switch (part) {
    case undefined:
      return { body: { name, version, content_hash: hash, ...rest } }
    case "versions":
      return { headers, body: [{ version, content_hash: hash, ...published }, ...older] }
    case "diff": {
      const [from, to] = ["from", "to"].map((side) => Number(searchParams.get(side) ?? version))
      return from !== undefined && from > version
        ? missing("version-not-found")
        : { headers, body: { from, to, bump: "major", ...difference } }
    }
    case "schema": {
      const schema = { stack_name: `v${asked}`, entities: [], types: [] }
      if (asked > version) return missing("version-not-found")
      return { headers, body: { name, description: null, websocket_url: "wss://s", schema } }
    }
    case "types":
      return {
        headers: { ...headers, "content-type": "text/plain" },
        body: `// ${searchParams.get("language")} ${asked}\n`,
      }
    default:
      return missing("not-found")
  }
}

let folder: string
const tool = await makeTool()
const api = await startServer(answer)
beforeEach(async () => {
  served = { swaps: { version: 2, hash: "b" }, transfers: { version: 1, hash: "a" } }
  difference = { verdict: "compatible", changes: [] }
  folder = await mkdtemp(join(tool.home, "project-"))
})

const svc = (words: string) => tool.svc(words.split(" "), { cwd: folder, env: { SVC_API_URL: api.url } })

test("versions, diff and an older version's schema print the API's responses", async () => {
  expect(json(await svc("versions swaps --json"))).toMatchObject([{ version: 2, current: true }])
  expect((await svc("versions swaps")).stdout).toMatch(/^2 \(current\) +2026-01-01/m)
  difference = {
    verdict: "breaking",
    changes: [{ kind: "field-removed", path: "A.b", breaking: true, text: "is gone" }],
  }
  expect(json(await svc("diff swaps --from 1 --to 2 --json"))).toMatchObject({
    from: 1,
    to: 2,
    verdict: "breaking",
  })
  expect((await svc("diff swaps")).stdout).toMatch(/breaking +A\.b +is gone/)
  expect(json(await svc("explore swaps --at 1 --json"))).toMatchObject({ schema: { stack_name: "v1" } })
  expectError(await svc("explore swaps --at 9 --json"), "version-not-found")
  expect(await svc("explore --at 1")).toMatchObject({ code: 2 })
})

test("types are one module of one version, on standard output or in a file", async () => {
  expect(await svc("types swaps")).toMatchObject({ code: 0, stdout: "// typescript 2\n", stderr: "" })
  expect(json(await svc("types Swaps --language json-schema --at 1 --json"))).toEqual({
    name: "swaps",
    version: 1,
    language: "json-schema",
    content: "// json-schema 1\n",
  })
  expect(await svc("types swaps --output swaps.ts")).toMatchObject({ code: 0 })
  expect(await readFile(join(folder, "swaps.ts"), "utf8")).toBe("// typescript 2\n")
  expectError(await svc("types swaps --output no/such/folder.ts --json"), "unwritable-file")
  expect(await svc("types swaps --language cobol")).toMatchObject({ code: 2 })
})

test("an output file is replaced as a whole and keeps its mode; a link's target is written, or created", async () => {
  const outside = join(tool.home, "outside")
  const pathOf = (name: string) => join(folder, name)
  for (const [name, words] of [
    ["types.ts", "types swaps --output types.ts"],
    ["svc.lock.json", "lock swaps"],
  ] as const) {
    await writeFile(pathOf(name), '{"stacks": []}', { mode: 0o640 })
    expect(await svc(words)).toMatchObject({ code: 0 })
    expect((await stat(pathOf(name))).mode & 0o777).toBe(0o640)
    await rm(pathOf(name))
    await symlink(outside, pathOf(name))
    for (const before of [undefined, '{"stacks": []}']) {
      await rm(outside, { force: true })
      if (before !== undefined) await writeFile(outside, before, { mode: 0o640 })
      expect(await svc(words)).toMatchObject({ code: 0 })
      expect((await lstat(pathOf(name))).isSymbolicLink()).toBe(true)
      expect(await readFile(outside, "utf8")).not.toBe(before)
      if (before !== undefined) expect((await stat(outside)).mode & 0o777).toBe(0o640)
    }
  }
  expect((await readdir(folder)).toSorted()).toEqual(["svc.lock.json", "types.ts"])
})

test("- is standard output; pipes and /dev paths are written directly", async () => {
  expect(await svc("types swaps --output -")).toMatchObject({ code: 0, stdout: "// typescript 2\n" })
  execFileSync("mkfifo", [join(folder, "pipe")])
  const read = readFile(join(folder, "pipe"), "utf8")
  expect(await svc("types swaps --output pipe")).toMatchObject({ code: 0 })
  expect(await read).toBe("// typescript 2\n")
  expect((await lstat(join(folder, "pipe"))).isFIFO()).toBe(true)
  // Redirected into a file, the name of the standard output leads to one.
  const into = openSync(join(folder, "redirected"), "w")
  const env = { PATH: process.env["PATH"], HOME: tool.home, SVC_API_URL: api.url }
  const args = [await tool.file(), "types", "swaps", "--output", "/dev/stdout"]
  const child = spawn(process.execPath, args, { stdio: ["ignore", into, "ignore"], env })
  closeSync(into)
  await once(child, "close")
  expect(await readFile(join(folder, "redirected"), "utf8")).toBe("// typescript 2\n")
  expect((await lstat("/dev/stdout")).isSymbolicLink()).toBe(true)
})

test("lock writes name, version, content and API, sorted, and keeps all other entries", async () => {
  expect((await svc("lock transfers")).code).toBe(0)
  const locked = await svc("lock Swaps --json")
  const stacks = [
    { name: "swaps", version: 2, content_hash: "b", api_url: api.url },
    { name: "transfers", version: 1, content_hash: "a", api_url: api.url },
  ]
  expect(json(locked)).toEqual({ stacks })
  expect(JSON.parse(await readFile(join(folder, "svc.lock.json"), "utf8"))).toEqual({ stacks })
  expectError(await svc("lock nothing --json"), "stack-not-found")
  expect(JSON.parse(await readFile(join(folder, "svc.lock.json"), "utf8"))).toEqual({ stacks })
})

test("two locks at once keep each other's entry, and leave no other file", async () => {
  for (let round = 0; round < 5; round++) {
    await rm(join(folder, "svc.lock.json"), { force: true })
    await Promise.all([svc("lock swaps"), svc("lock transfers")])
    const { stacks } = JSON.parse(await readFile(join(folder, "svc.lock.json"), "utf8")) as { stacks: object[] }
    expect(stacks).toMatchObject([{ name: "swaps" }, { name: "transfers" }])
  }
  expect(await readdir(folder)).toEqual(["svc.lock.json"])
})

test("check passes identical and compatible versions, and exits 1 with the changes if something breaks", async () => {
  await svc("lock swaps transfers")
  expect(json(await svc("check --json"))).toEqual({
    stacks: [
      { name: "swaps", locked: 2, now: 2, verdict: "none", changes: [] },
      { name: "transfers", locked: 1, now: 1, verdict: "none", changes: [] },
    ],
  })
  served["swaps"] = { version: 3, hash: "c", older: [{ version: 2, content_hash: "b" }] }
  expect(await svc("check")).toMatchObject({ code: 0, stdout: expect.stringMatching(/swaps +2 +3 +compatible/) })
  difference = {
    verdict: "breaking",
    changes: [{ kind: "view-removed", path: "A/list", breaking: true, text: "The view is gone." }],
  }
  const why = /swaps \(locked 2, now 3\): A\/list: The view is gone.*svc lock swaps/
  expect(expectError(await svc("check --json"), "breaking-change", why)).toMatchObject({
    stacks: [
      { name: "swaps", verdict: "breaking", changes: difference.changes },
      { name: "transfers", verdict: "none" },
    ],
  })
})

test("a removed stack, or another one under its name, breaks the lock", async () => {
  await svc("lock swaps transfers")
  const isBroken = async (now: number | null, next: string) =>
    expect(json(await svc("check --json"))).toMatchObject({
      code: "breaking-change",
      error: expect.stringContaining(`Next: ${next}`),
      stacks: [{ now, verdict: "breaking" }, { verdict: "breaking" }],
    })
  served = { transfers: { version: 1, hash: "other" } }
  // What is gone can't be compared or locked.
  const next = "svc explore transfers, change the code, then svc lock transfers"
  await isBroken(null, `${next}, and remove swaps from svc.lock.json`)
  // The other one has a version of the locked number, and later ones.
  served["swaps"] = { version: 3, hash: "d", older: [{ version: 2, content_hash: "c" }] }
  await isBroken(3, "svc explore swaps, change the code, then svc lock swaps transfers")
  await svc("lock swaps transfers")
  served = {}
  await isBroken(null, "svc explore, change the code, and remove swaps, transfers from svc.lock.json")
})

test("each command that reads a deprecated stack says so, with the successor and the reason", async () => {
  served["swaps"] = { version: 2, hash: "b", deprecated: { message: "Old.", since: "x", successor: "transfers" } }
  const stderr = "swaps is deprecated. Next: svc explore transfers, its successor. Its publisher says: Old.\n"
  for (const words of ["lock", "explore", "versions", "diff", "types"]) {
    expect(await svc(`${words} swaps`), words).toMatchObject({ code: 0, stderr })
  }
  expect(await svc("check")).toMatchObject({ code: 0, stderr })
})

test("an entry of another API is reported, and no request is made for it", async () => {
  const stacks = [{ name: "swaps", version: 1, content_hash: "b", api_url: "https://other.example" }]
  await writeFile(join(folder, "svc.lock.json"), JSON.stringify({ stacks }))
  api.received.length = 0
  const checked = await svc("check --json")
  expect(json(checked)).toMatchObject({ stacks: [{ name: "swaps", now: null, verdict: "not-asked" }] })
  expect(checked.stderr).toContain("--api-url https://other.example")
  expect(api.received).toEqual([])
})

test("without a valid lock file check says what to do", async () => {
  expectError(await svc("check --json"), "no-lock", "svc lock STACK")
  for (const text of ["", "[]", '{"stacks":{}}', '{"stacks":[{"name":"a"}]}', '{"stacks":[null]}']) {
    await writeFile(join(folder, "svc.lock.json"), text)
    expectError(await svc("check --json"), "invalid-lock")
    expectError(await svc("lock swaps --json"), "invalid-lock")
  }
})

test("check --watch prints a line for each change of a locked stack, and on request ends at the first breaking one", async () => {
  served = { transfers: { version: 1, hash: "a" } }
  expect((await svc("lock transfers")).code).toBe(0)
  const told = [
    { id: 8, at, stack: "transfers", kind: "published", version: 2, previous_version: 1, verdict: "compatible" },
    { id: 9, at, stack: "other", kind: "withdrawn", version: 1, verdict: "breaking" },
    {
      id: 10,
      stack: "transfers",
      kind: "deprecated",
      version: 2,
      verdict: "none",
      message: "leave",
      successor: "swaps",
    },
    { id: 11, at, stack: "transfers", kind: "withdrawn", version: 2, verdict: "breaking" },
    { id: 12, at, stack: "transfers", kind: "restored", version: 2, verdict: "none" },
  ]
  changes = told.map((one) => `id: ${one.id}\nevent: ${one.kind}\ndata: ${JSON.stringify(one)}\n\n`).join("")
  const lines = await svc("check --watch --fail-on breaking --json")
  expect(lines.code).toBe(1)
  const printed = lines.stdout.trim().split("\n")
  expect(printed.slice(0, 3).map((line) => JSON.parse(line))).toEqual([told[0], told[2], told[3]])
  expect(JSON.parse(printed[3] ?? "")).toMatchObject({ code: "breaking-change" })
  const text = await svc("check --watch --fail-on breaking")
  expect(text.stdout).toContain("2026-01-01T00:00:00.000Z transfers published, version 2 (was 1): compatible\n")
  expect(text.stdout).toContain("deprecated, version 2: none. leave; its successor: swaps\n")
  expect([text.code, text.stderr]).toEqual([1, expect.stringContaining("svc lock transfers")])
  expect((await svc("check --watch --fail-on compatible")).code).toBe(2)
})
