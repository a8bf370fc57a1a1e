import { writeFileSync } from "node:fs"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { beforeEach, expect, test } from "vitest"
import { keyHint } from "@svc/keys"
import { rotateKey } from "../src/account/keys.ts"
import type { Context } from "../src/command.ts"
import { lockFile } from "../src/settings/file-lock.ts"
import { startMcp } from "./mcp-client.ts"
import { type Received, type Reply, serve, startServer } from "./server.ts"
import { expectError, json, makeTool } from "./tool.ts"

const kept = "svc_ak_keptkeptkeptkept"
const fresh = "svc_ak_freshfreshfresh"
const record = (id: number) => ({
  id,
  name: "signup",
  key_class: "secret",
  key_hint: "svc_ak_…kept",
  origin_allowlist: null,
  status: "active",
  current: id === 1,
  created_at: "2026-01-01T00:00:00.000Z",
  expires_at: null,
  last_used_at: null,
})
const replaced = { ...record(2), replaced_by: 1 }
const publishable = { ...record(5), key_class: "publishable" }
const minted = {
  id: 9,
  key: fresh,
  name: "rotation",
  key_class: "secret",
  origin_allowlist: null,
  expires_at: null,
  message: "Keep it.",
}

const answer = ({ method, target, headers }: Received): Reply => {
  if (headers.authorization !== `Bearer ${kept}` && headers.authorization !== `Bearer ${fresh}`) {
    return { status: 401, body: { error: "Send a key.", code: "missing-credentials" } }
  }
  if (target === "/api/agents/me/keys?limit=100") {
    return { body: [record(1)], headers: { link: '</api/agents/me/keys?limit=100&offset=1>; rel="next"' } }
  }
  if (target === "/api/agents/me/keys?limit=100&offset=1") return { body: [replaced, publishable] }
  if (method === "POST" && target === "/api/agents/me/keys") return { status: 201, body: minted }
  if (method === "POST" && target === "/api/agents/me/keys/publishable") {
    return { status: 201, body: { ...minted, key: "svc_pk_public", key_class: "publishable" } }
  }
  if (method === "POST" && target === "/api/agents/me/keys/3/rotate") return { status: 201, body: {} }
  if (method === "POST" && /^\/api\/agents\/me\/keys\/[17]\/rotate$/.test(target)) {
    return { status: 201, body: { ...minted, replaces: 7, old_expires_at: "2026-01-01T01:00:00.000Z" } }
  }
  if (method === "DELETE" && target === "/api/agents/me/keys/7") {
    return { body: { id: 7, revoked: true, remaining_secret_keys: 1 } }
  }
  if (target === "/ws/sessions") {
    return { body: { token: "a.b.c", expires_at: 1795254000, token_type: "Bearer", scope: "read" } }
  }
  return { status: 404, body: { error: "No such key.", code: "key-not-found" } }
}

const tool = await makeTool()
const server = await startServer(answer)
const file = join(tool.home, "config/svc/credentials.json")
beforeEach(async () => {
  server.received.length = 0
  await rm(join(tool.home, "config"), { recursive: true, force: true })
  await mkdir(join(tool.home, "config/svc"), { recursive: true })
  await writeFile(file, JSON.stringify({ [server.url]: { api_key: kept, slug: "agt_1" } }))
})

const svc = (args: string, env: Record<string, string> = { SVC_API_URL: server.url }) =>
  tool.svc(args.split(" "), { env })

test("list prints every page of the API's records, unchanged; the table says which key was replaced", async () => {
  const ended = await svc("keys list --json")
  expect(json(ended)).toEqual([record(1), replaced, publishable])
  const { stdout } = await svc("keys list")
  expect(stdout).toMatch(/1 +signup +secret +svc_ak_…kept +active \(this one\) +never +never/)
  expect(stdout).toMatch(/2 +signup +secret +svc_ak_…kept +active, replaced by 1 +never +never/)
})

test("mint --json prints the API's response unchanged, and sends options as given", async () => {
  expect(json(await svc("keys mint --name ci --expires-in-days 30 --json"))).toEqual(minted)
  expect(JSON.parse(server.received[0]?.body ?? "")).toEqual({ name: "ci", expires_in_days: 30 })
  const people = await svc("keys mint")
  expect(people.stdout).toContain(fresh)
  expect(people.stderr).toContain("shown only now")
})

test("a key that can't be printed, or that nobody reads, is reported with the command that revokes it", async () => {
  const into = (command: string, output: string) =>
    tool.inBash(`set -o pipefail; "$0" "$@" ${output}`, command.split(" "), { SVC_API_URL: server.url })
  for (const output of ["> /dev/full", "| true"]) {
    const ended = await into("keys mint", output)
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Key 9 works, .+ Next: svc keys revoke 9$/m),
    })
    expect(ended.stderr).not.toContain(fresh)
  }
  expect((await into("keys publishable --origin https://app.example", "> /dev/full")).stderr).toContain("revoke 9")
  expect((await into("keys rotate 7", "> /dev/full")).stderr).toContain("Next: svc keys rotate 7 again")
})

test("mint --save replaces the stored key and doesn't show the new one", async () => {
  const ended = await svc("keys mint --save")
  expect(ended.code).toBe(0)
  expect(ended.stdout + ended.stderr).not.toContain(fresh)
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ [server.url]: { api_key: fresh, slug: "agt_1" } })
  const { key: _key, message: _message, ...rest } = minted
  expect(json(await svc("keys mint --save --json"))).toEqual({ ...rest, key_hint: keyHint(fresh) })
})

test("mint --save with another agent's key in the environment keeps the old file", async () => {
  const ended = await svc("keys mint --save", { SVC_API_URL: server.url, SVC_API_KEY: fresh })
  expect(ended.stderr).toContain("SVC_API_KEY is set")
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ [server.url]: { api_key: fresh } })
  expect(await readFile(`${file}.bak`, "utf8")).toContain(kept)
})

test("rotate_key names the older keys that still work, and not the one that another process has stored since", async () => {
  const api = await serve((received) =>
    received.target.endsWith("&offset=1") ? { body: [record(2), record(10)] } : answer(received),
  )
  await writeFile(file, JSON.stringify({ [api.url]: { api_key: kept, slug: "agt_1" } }))
  const mcp = await startMcp(await tool.file(), { SVC_API_URL: api.url, XDG_CONFIG_HOME: join(tool.home, "config") })
  const next = "svc_ak_…kept works until it is revoked; to end it sooner, ask a person: svc keys revoke 2."
  expect(await mcp.call("rotate_key")).toMatchObject({ id: 9, next })
  await mcp.close()
})

test("rotate without an ID rotates the stored key, and stores its successor before printing anything", async () => {
  const ended = await svc("keys rotate")
  expect([ended.code, ended.stdout + ended.stderr]).toEqual([0, expect.not.stringContaining(fresh)])
  expect(ended.stdout).toMatch(/Old key ends +2026-01-01T01:00/)
  const [rotated, used] = server.received.slice(-2)
  expect(rotated).toMatchObject({ target: "/api/agents/me/keys/1/rotate", body: "{}" })
  // A replaced key can revoke its successor until that has been used.
  expect(used?.headers.authorization).toBe(`Bearer ${fresh}`)
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ [server.url]: { api_key: fresh, slug: "agt_1" } })
})

test("a rotation that waits for another process replaces the key that this one has stored, or none", async () => {
  const rotatedAfter = async (stored: object) => {
    const lock = await lockFile(`${file}.lock`)
    const rotation = svc("keys rotate --json")
    await pause(100)
    await writeFile(file, JSON.stringify(stored))
    await lock.release()
    return rotation
  }
  expectError(await rotatedAfter({}), "missing-credentials")
  expect([server.received, await readFile(file, "utf8")]).toEqual([[], "{}"])
  await writeFile(file, JSON.stringify({ [server.url]: { api_key: kept } }))
  expect((await rotatedAfter({ [server.url]: { api_key: fresh, slug: "agt_2" } })).code).toBe(0)
  expect(new Set(server.received.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${fresh}`]))
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ [server.url]: { api_key: fresh, slug: "agt_2" } })
})

test("a rotation whose key another one replaces meanwhile stores the successor too, and shows no key", async () => {
  let reads = 0
  const context = {
    env: { SVC_API_URL: server.url },
    args: [],
    options: {},
    flags: new Set(),
    note: () => {},
    onInterrupt: () => () => {},
    get folder() {
      // Between the first look into the file and the second.
      if (++reads === 2) writeFileSync(file, JSON.stringify({ [server.url]: { api_key: fresh, slug: "agt_1" } }))
      return dirname(file)
    },
  } as unknown as Context
  const rotated = await rotateKey(context)
  expect(rotated.json).toMatchObject({ replaces: 7, key_hint: keyHint(fresh) })
  expect(rotated.json).not.toHaveProperty("key")
})

test("a signal during a rotation ends it after the new key is stored, because the old one may be at its end", async () => {
  const arrived = Promise.withResolvers<void>()
  const slow = await serve(async (request) => {
    if (request.method !== "POST") return answer(request)
    arrived.resolve()
    await pause(300)
    return answer(request)
  })
  await writeFile(file, JSON.stringify({ [slow.url]: { api_key: kept } }))
  const child = await tool.start(["keys", "rotate", "--overlap", "0"], { SVC_API_URL: slow.url })
  await arrived.promise
  child.kill("SIGTERM")
  expect(await child.exited).toBe(0)
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ [slow.url]: { api_key: fresh } })
})

test("a rotation without a readable response says that the key may have been replaced, and how to go on", async () => {
  expect((await svc("keys rotate 3")).stderr).toMatch(/may have been replaced.*Next: svc keys rotate 3 again/s)
})

test("rotate --save rejects a publishable key before any change, because no command can use one", async () => {
  const ended = await svc("keys rotate 5 --save --json")
  expect([ended.code, json(ended)]).toEqual([
    2,
    { code: "usage", error: expect.stringContaining("Key 5 is publishable") },
  ])
  expect(server.received.every(({ method }) => method === "GET")).toBe(true)
  expect(await readFile(file, "utf8")).toContain(kept)
})

test("rotate with an ID shows the new key and stores it only with --save; a key from the environment isn't stored", async () => {
  const before = await readFile(file, "utf8")
  expect(json(await svc("keys rotate 7 --overlap 2h --name ci --json"))).toMatchObject({ key: fresh, replaces: 7 })
  expect(JSON.parse(server.received.at(-1)?.body ?? "")).toEqual({ name: "ci", overlap_seconds: 7200 })
  const environment = await svc("keys rotate", { SVC_API_URL: server.url, SVC_API_KEY: fresh })
  expect(environment.stdout).toContain(fresh)
  expect(await readFile(file, "utf8")).toBe(before)
})

test("an old key that is to end at once ends after its successor is stored, so that a lost response loses no account", async () => {
  const files: string[] = []
  const platform = await serve(async (request) => {
    if (request.method === "DELETE") files.push(await readFile(file, "utf8"))
    return answer(request)
  })
  await writeFile(file, JSON.stringify({ [platform.url]: { api_key: kept } }))
  const ended = await svc("keys rotate 7 --overlap 0 --save", { SVC_API_URL: platform.url })
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining("The old key is being revoked.")])
  expect(platform.received.slice(-2)).toMatchObject([
    { target: "/api/agents/me/keys/7/rotate", body: "{}" },
    { method: "DELETE", target: "/api/agents/me/keys/7", headers: { authorization: `Bearer ${fresh}` } },
  ])
  expect(files).toEqual([JSON.stringify({ [platform.url]: { api_key: fresh } }, null, 2) + "\n"])
  const failed = await svc("keys rotate --overlap 0", { SVC_API_URL: platform.url })
  expect(failed.stderr).toContain("The old key still works. Next: svc keys revoke 1")
})

test("an invalid overlap is rejected before any request", async () => {
  for (const bad of ["-1", "8d", "604801", "1w", "1.5h", "h"]) {
    expect((await svc(`keys rotate 7 --overlap=${bad}`)).code).toBe(2)
  }
  expect(server.received.length).toBe(0)
})

test("revoke takes a number; anything else is rejected before any request", async () => {
  expect(json(await svc("keys revoke 7 --json"))).toEqual({ id: 7, revoked: true, remaining_secret_keys: 1 })
  expectError(await svc("keys revoke 8 --json"), "key-not-found", "No such key. Next: svc keys list")
  server.received.length = 0
  for (const id of ["..", "x", "7/..", "-7"]) expect((await svc(`keys revoke ${id}`)).code).toBe(2)
  expect(server.received.length).toBe(0)
})

test("session sends URL and scopes, and prints the API's response", async () => {
  const ended = await svc("session ws://a.example --scope read --scope transaction:inspect --json")
  expect(json(ended)).toEqual({ token: "a.b.c", expires_at: 1795254000, token_type: "Bearer", scope: "read" })
  const sent = { websocket_url: "ws://a.example", scope: "read transaction:inspect" }
  expect(JSON.parse(server.received[0]?.body ?? "")).toEqual(sent)
  expect((await svc("session ws://a.example")).stdout).toMatch(/Token +a\.b\.c\n[^]*Expires +2026-11-21T/)
})

test("SVC_API_KEY is sent only to SVC_API_URL, not to --api-url", async () => {
  const other = await serve(answer)
  expect(await svc("keys list --json", { SVC_API_URL: server.url, SVC_API_KEY: fresh })).toMatchObject({ code: 0 })
  expect(server.received[0]?.headers.authorization).toBe(`Bearer ${fresh}`)
  const flag = await svc(`keys list --json --api-url ${other.url}`, { SVC_API_URL: server.url, SVC_API_KEY: fresh })
  expectError(flag, "missing-credentials")
  expect(flag.stderr).toMatch(/SVC_API_KEY belongs to .* set SVC_API_URL/)
  expect(other.received.filter(({ headers }) => headers.authorization !== undefined)).toEqual([])
  const quoted = await svc("keys list --json", { SVC_API_URL: server.url, SVC_API_KEY: `"${fresh}"` })
  expectError(quoted, "invalid-api-key", "SVC_API_KEY isn't a key")
})

test("a stored key is sent only to its exact URL", async () => {
  const { port } = new URL(server.url)
  for (const url of [`http://localhost:${port}`, `${server.url}/v1`]) {
    expectError(await svc(`keys list --json --api-url ${url}`), "missing-credentials")
  }
  expect(server.received.length).toBe(0)
  // The same URL in another spelling.
  expect((await svc(`keys list --json --api-url HTTP://127.0.0.1:${port}/`)).code).toBe(0)
})

test("no key is sent unencrypted to another machine", async () => {
  const url = "http://api.example"
  await writeFile(file, JSON.stringify({ [url]: { api_key: kept } }))
  for (const command of ["keys list", "auth status", "auth signup --force", "session ws://a.example"]) {
    expectError(await svc(`${command} --json --api-url ${url}`), "insecure-url")
  }
})

test("redirects aren't followed, so no key is redirected", async () => {
  const other = await serve(answer)
  const sends = await serve(() => ({ status: 307, headers: { location: other.url }, body: "" }))
  expectError(await svc("keys list --json", { SVC_API_URL: sends.url, SVC_API_KEY: fresh }), "redirected", other.url)
  expect(other.received).toEqual([])
})

test("a key in a server's error, or typed in the wrong place, isn't repeated", async () => {
  const echo = await serve(({ headers }) => ({
    status: 400,
    body: { error: `Cannot read ${String(headers.authorization)}`, code: "invalid-request" },
  }))
  const ended = await svc("keys list --json", { SVC_API_URL: echo.url, SVC_API_KEY: fresh })
  expectError(ended, "invalid-request", "svc_ak_…resh")
  expect(ended.stdout + ended.stderr).not.toContain(fresh)
  for (const args of [
    `auth login ${fresh}`,
    `keys revoke ${fresh}`,
    `${fresh} --json`,
    `explore ${fresh}`,
    `explore --${fresh}`,
  ]) {
    const typed = await svc(args)
    expect(typed.code).not.toBe(0)
    expect(typed.stdout + typed.stderr).not.toContain(fresh)
  }
})
