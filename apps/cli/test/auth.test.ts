import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { keyHint, mintKey } from "@svc/keys"
import { setTimeout as pause } from "node:timers/promises"
import { beforeEach, expect, test } from "vitest"
import { type Received, type Reply, serve, startServer } from "./server.ts"
import { expectError, json, makeTool } from "./tool.ts"

const newKey = (): string => mintKey("ak", randomBytes, randomBytes(32))

/** The API as far as signing up goes: every key that it gave out is known to it. */
const agents = new Map<string, string>()
const api = ({ method, target, headers }: Received): Reply => {
  if (method === "POST" && target === "/api/agents/signup") {
    const key = newKey()
    const slug = `agt_${agents.size}`
    agents.set(key, slug)
    return { status: 201, body: { slug, display_name: `agent-${slug}`, api_key: key, message: "Keep it." } }
  }
  const slug = agents.get((headers.authorization ?? "").replace("Bearer ", ""))
  if (slug === undefined) return { status: 401, body: { error: "No such key.", code: "invalid-api-key" } }
  return { body: { slug, display_name: `agent-${slug}`, status: "active" } }
}

const tool = await makeTool()
const server = await startServer(api)
const folder = join(tool.home, "config/svc")
const file = join(folder, "credentials.json")
beforeEach(async () => {
  await rm(folder, { recursive: true, force: true })
  server.received.length = 0
})

const svc = (args: string, stdin = "") => tool.svc(args.split(" "), { stdin, env: { SVC_API_URL: server.url } })

const kept = async (path = file): Promise<unknown> => JSON.parse(await readFile(path, "utf8"))
const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

test("a signal during a sign-up ends it after the key is stored", async () => {
  const arrived = Promise.withResolvers<void>()
  const slow = await serve(async (request) => {
    arrived.resolve()
    await pause(300)
    return api(request)
  })
  const child = await tool.start(["auth", "signup"], { SVC_API_URL: slow.url })
  await arrived.promise
  child.kill("SIGTERM")
  expect(await child.exited).toBe(0)
  expect(await kept()).toMatchObject({ [slow.url]: { api_key: [...agents.keys()].at(-1) } })
})

test("sign-up stores the key for its API URL, and prints the account but never the key", async () => {
  const ended = await svc("auth signup --name Scout --json")
  expect(ended.code).toBe(0)
  expect(JSON.parse(server.received[0]?.body ?? "")).toEqual({ display_name: "Scout" })
  const [key = "", slug = ""] = [...agents].at(-1) ?? []
  const named = { slug, display_name: `agent-${slug}` }
  const identity = { ...named, status: "active", api_url: server.url, key_hint: keyHint(key) }
  expect(json(ended)).toEqual(identity)
  expect(await kept()).toEqual({ [server.url]: { api_key: key, ...named } })
  expect(ended.stdout + ended.stderr).not.toContain(key)
  expect(json(await svc("auth status --json"))).toEqual(identity)
  const people = await svc("auth status")
  expect(people.stdout).toContain(slug)
  expect(people.stdout).not.toContain(key)
})

test("the folder gets mode 0700 and the file 0600, even if they were more open before", async () => {
  await mkdir(folder, { recursive: true })
  await writeFile(file, "{}", { mode: 0o644 })
  await chmod(folder, 0o755)
  await svc("auth signup")
  expect([await mode(folder), await mode(file)]).toEqual([0o700, 0o600])
})

test("a second sign-up is rejected before the API is called; --force keeps the old file as .bak", async () => {
  await svc("auth signup")
  const first = await kept()
  expectError(await svc("auth signup --json"), "already-signed-up", "svc auth status")
  expect(server.received.length).toBe(1)
  expect((await svc("auth signup --force")).code).toBe(0)
  expect(await kept(`${file}.bak`)).toEqual(first)
  expect(await mode(`${file}.bak`)).toBe(0o600)
  expect(await kept()).not.toEqual(first)
})

test("of simultaneous sign-ups one registers an agent, and the others are rejected", async () => {
  const ended = await Promise.all(Array.from({ length: 4 }, () => svc("auth signup --json")))
  expect(ended.map(({ code }) => code).sort((a, b) => Number(a) - Number(b))).toEqual([0, 1, 1, 1])
  expect(server.received.length).toBe(1)
})

test("if the key can't be stored, no agent is registered", async () => {
  await mkdir(join(tool.home, "config"), { recursive: true })
  await writeFile(folder, "a file in the folder's place")
  expectError(await svc("auth signup --json"), "credentials-unwritable")
  expect(server.received.length).toBe(0)
})

test("if the disk is full, no agent is registered", async () => {
  const full = await tool.inBash('ulimit -f 0; exec "$0" "$@"', ["auth", "signup", "--json"], {
    SVC_API_URL: server.url,
  })
  expectError(full, "credentials-unwritable")
  expect(server.received.length).toBe(0)
})

test("if saving fails after the agent was created, its key goes to standard output with a warning", async () => {
  // The folder goes while the API answers.
  const cruel = await serve(async (request) => {
    await rm(folder, { recursive: true, force: true })
    return api(request)
  })
  const people = await tool.svc(["auth", "signup"], { env: { SVC_API_URL: cruel.url } })
  const [key = ""] = [...agents].at(-1) ?? []
  expect(people.code).toBe(1)
  expect(people.stdout).toBe(`${key}\n`)
  expect(people.stderr).toMatch(/wasn't written.*store it/)
  expect(people.stderr).not.toContain(key)
  const document = await tool.svc(["auth", "signup", "--json"], { env: { SVC_API_URL: cruel.url } })
  const [next = ""] = [...agents].at(-1) ?? []
  expect(json(document)).toMatchObject({ code: "key-not-saved", api_key: next })
})

test("login stores a valid key, and keeps the old file if it replaces a key", async () => {
  const [first, second] = [newKey(), newKey()]
  agents.set(first, "agt_first").set(second, "agt_second")
  expect((await svc("auth login", `\n${first}\n`)).code).toBe(0)
  const before = await kept()
  const ended = await svc("auth login --json", second)
  expect(json(ended)).toMatchObject({ slug: "agt_second", key_hint: keyHint(second) })
  expect(await kept()).toMatchObject({ [server.url]: { api_key: second } })
  expect(await kept(`${file}.bak`)).toEqual(before)
})

test("login doesn't store a key that the API rejects, and sends nothing that isn't a key", async () => {
  expectError(await svc("auth login --json", newKey()), "invalid-api-key")
  server.received.length = 0
  for (const text of ["", "hunter2", "AKIA0000", "svc_ak_a b", `x${newKey()}`]) {
    const ended = await svc("auth login --json", text)
    expectError(ended, "invalid-api-key", "svc_ak_ or svc_sk_")
    if (text !== "") expect(ended.stdout + ended.stderr).not.toContain(text)
  }
  expect(server.received.length).toBe(0)
  await expect(stat(file)).rejects.toThrow(/ENOENT/)
})

test("auth status fails if no key is stored, and returns the API's code if the key no longer works", async () => {
  const nobody = await svc("auth status --json")
  expectError(nobody, "missing-credentials", "svc auth signup")
  await svc("auth signup")
  agents.clear()
  expectError(await svc("auth status --json"), "invalid-api-key", "No such key.")
})

test("logout removes only this API URL's key; running it twice is harmless", async () => {
  await svc("auth signup")
  await writeFile(
    file,
    JSON.stringify({ ...Object(await kept()), "https://other.example": { api_key: "svc_ak_other" } }),
  )
  const ended = await svc("auth logout --json")
  expect(json(ended)).toMatchObject({ api_url: server.url, key_hint: expect.stringMatching(/^svc_ak_…/) })
  expect(await kept()).toEqual({ "https://other.example": { api_key: "svc_ak_other" } })
  expect((await svc("auth logout --json")).code).toBe(0)
  expect((await svc("auth status")).code).toBe(1)
})
