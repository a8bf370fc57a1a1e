import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ConfigError } from "@svc/config"
import { readSigningKeys } from "@svc/session-token"
import { processRuntime } from "@svc/program"
import { beforeAll, describe, expect, test } from "vitest"
import { folderOfFile } from "../../../test/folder-of-file.ts"
import { readConfig } from "../src/config.ts"
import { unavailable } from "../src/db/errors.ts"
import { failureOf } from "../src/operator/failure.ts"
import { startService } from "../src/service.ts"
import { smallAst } from "./registry/small-ast.ts"
import { command, operate, startProgram } from "./program.ts"
import { testService } from "./service.ts"

const folder = folderOfFile()
const env = { SVC_DATA_DIR: join(folder, "data") }
const astFile = join(folder, "small.json")
beforeAll(() => writeFileSync(astFile, JSON.stringify(smallAst())))

test("a command that fails because of the database or the role says what to do next", async () => {
  const away = await operate(["agent", "list"], { ...env, DATABASE_URL: "postgres://127.0.0.1:1/x" })
  expect(away).toMatchObject({
    code: 1,
    json: { code: "service-unavailable", error: expect.stringMatching(/ECONNREFUSED.*Start the server/) },
  })
  const denied = Object.assign(new Error("permission denied for table schema_migrations"), { code: "42501" })
  expect(failureOf(unavailable(denied))["error"]).toMatch(/permission denied.*role that owns the tables/)
})

test("a command prints JSON: a generated signing key can be used exactly as printed", async () => {
  const { code, json, stderr } = await operate(["session-key", "generate"], env)
  expect([code, stderr]).toEqual([0, ""])
  const keys = await readSigningKeys(JSON.stringify(json))
  expect(keys.publicKeys).toHaveLength(1)
})

describe("commands", () => {
  const service = testService("postgres")

  const told = (line: string) => command(service, line.split(" "))

  test("what others wrote controls no terminal in what a command prints, and reads the same", async () => {
    const description = "a\u009b31mb\u202ec\u200b\u{e0041}\u2028d"
    const publish = `stack publish ${astFile} --name told --websocket-url wss://a.example/told --description`
    expect(await command(service, [...publish.split(" "), description])).toMatchObject({ status: "published" })
    const list = startProgram(["stack", "list"], { ...env, DATABASE_URL: service.databaseUrl })
    expect(await list.exited).toBe(0)
    expect(list.stdout()).not.toMatch(/(?!\n)\p{Cc}|[\u200b\u2028\u202e\u{e0041}]/u)
    expect(JSON.parse(list.stdout())).toContainEqual(expect.objectContaining({ name: "told", description }))
    expect(await told("stack unpublish told")).toMatchObject({ unpublished: true })
  })

  test("every mistake has its code, and the error of an invalid AST has its path", async () => {
    const broken = join(folder, "broken.json")
    writeFileSync(broken, JSON.stringify(smallAst({ entities: [{ state_name: 7 }] })))
    const publish = `stack publish ${astFile} --name x`
    for (const [line, code] of [
      ["constructor", "usage"],
      ["stack publish", "usage"],
      [publish, "usage"],
      [`${publish} --websocket-url wss://a.example --nonsense`, "usage"],
      [`${publish} --websocket-url wss://a.example more`, "usage"],
      [`${publish} --websocket-url wss://a.example --visibility secret`, "usage"],
      [`${publish} --websocket-url https://a.example`, "invalid-websocket-url"],
      [`stack publish ${astFile} --name x_y --websocket-url wss://a.example`, "invalid-name"],
      [`stack publish ${folder}/none.json --name x --websocket-url wss://a.example`, "unreadable-file"],
      [`stack publish ${broken} --name x --websocket-url wss://a.example`, "invalid-ast"],
      ["stack unpublish none", "stack-not-found"],
      ["agent disable agt_0000000000", "agent-not-found"],
      ["key disable x", "key-not-found"],
      ["key revoke 2147483647", "key-not-found"],
      ["audit list --limit 0", "usage"],
      ["audit list 5", "usage"],
      ["user create --email a@example.com more", "usage"],
      ["user create --email nonsense", "invalid-email"],
    ] as const) {
      expect(await told(line), line).toMatchObject({ code, error: expect.any(String) })
    }
    const { details } = await told(`stack publish ${broken} --name x --websocket-url wss://a.example`)
    expect(details).toMatchObject({ path: expect.stringMatching(/^entities\[0\]/), reason: expect.any(String) })
  })

  test("agents, people, keys and stacks are managed, and the audit trail lists everything, newest first", async () => {
    expect(await told("migrate")).toEqual({ applied: 0 })
    const agent = await service.signUp("203.0.113.77")
    expect(await told("agent list")).toMatchObject([{ slug: agent.slug, status: "active" }])
    expect(await told(`agent disable ${agent.slug}`)).toEqual({ slug: agent.slug, status: "disabled" })
    expect(await told(`agent enable ${agent.slug}`)).toEqual({ slug: agent.slug, status: "active" })
    const user = await told("user create --email P@Example.org --name P")
    expect(user).toEqual({ id: expect.any(Number), email: "p@example.org", api_key: expect.stringMatching(/^svc_sk_/) })
    expect(await told("user create --email p@example.org")).toMatchObject({ code: "email-taken" })
    expect(await told("key disable 1")).toEqual({ id: 1, status: "disabled" })
    expect(await service.faultOf(agent.key)).toBe("disabled-api-key")
    expect(await told("key enable 1")).toEqual({ id: 1, status: "enabled" })
    expect((await service.call("GET", "/api/agents/me", { key: agent.key })).status).toBe(200)
    expect(await told("key revoke 1")).toEqual({ id: 1, status: "revoked" })
    expect(await service.faultOf(agent.key)).toBe("invalid-api-key")
    expect(await told("key enable 1")).toMatchObject({ code: "key-not-found" })
    const publish = `stack publish ${astFile} --name Mine --websocket-url wss://a.example/ --visibility global --relay`
    expect(await told(publish)).toMatchObject({ name: "mine", status: "published", websocket_url: "wss://a.example" })
    expect(await told(publish)).toMatchObject({ name: "mine", status: "unchanged", version: 1 })
    const listed = (await told("stack list")).find(({ name }: { name: string }) => name === "mine")
    expect(listed).toMatchObject({ visibility: "global", relay: true, browser_send: false, version: 1 })
    expect(await told("stack unpublish mine")).toEqual({ name: "mine", unpublished: true })

    const trail = await told("audit list --limit 10")
    expect(trail.map(({ action }: { action: string }) => action)).toEqual([
      "stack.unpublish",
      "stack.publish",
      "key.revoke",
      "key.enable",
      "key.disable",
      "key.mint",
      "user.create",
      "agent.enable",
      "agent.disable",
      "agent.signup",
    ])
    expect(trail[9]).toEqual({
      id: expect.any(Number),
      at: expect.any(String),
      actor: `agent:${agent.slug}`,
      action: "agent.signup",
      target: `agent:${agent.slug}`,
      outcome: "success",
      address_prefix: "203.0.113.0/24",
      request_id: expect.any(String),
    })
    expect(trail[0]).toMatchObject({ actor: "operator", target: "stack:mine", address_prefix: null, request_id: null })
    await service.signUp("2001:db8:0:7::1")
    expect(await told("audit list --limit 1")).toMatchObject([{ address_prefix: "2001:db8:0:7::/64" }])
  })

  test("an abusive agent can be found by key, hint or network, and disabled with a reason that it gets", async () => {
    const { slug, key } = await service.signUp("198.51.100.77")
    const [mine] = await told(`agent find ${slug}`)
    expect(mine).toMatchObject({ slug, status: "active", address_prefix: "198.51.100.0/24", disabled_at: null })
    const [{ id, key_hint }] = mine.keys
    for (const clue of [`agent:${slug}`, String(id), key_hint, key_hint.slice(-4), "198.51.100.0/24"])
      expect(await told(`agent find ${clue}`)).toContainEqual(expect.objectContaining({ slug }))
    expect(await told("agent find 203.0.113.0/26")).toMatchObject({ code: "agent-not-found" })
    const person = await told("user create --email found@example.com")
    for (const clue of [`user:${person.id}`, `svc_sk_…${person.api_key.slice(-4)}`])
      expect(await told(`agent find ${clue}`)).toMatchObject([
        { owner: `user:${person.id}`, email: "found@example.com", keys: [{ name: "first" }] },
      ])
    await told(`agent disable ${slug} --message Too-many-requests`)
    const refused = await service.call("GET", "/api/agents/me", { key })
    expect(refused).toMatchObject({ status: 403, body: { code: "agent-account-disabled" } })
    expect(refused.body.error).toBe("The agent account is disabled: Too-many-requests")
    expect(await told("agent list --disabled")).toMatchObject([
      { slug, status: "disabled", message: "Too-many-requests", disabled_at: expect.any(String) },
    ])
    await told(`agent enable ${slug}`)
    expect(await told("agent list --disabled")).toEqual([])
    await told(`key disable ${id}`)
    expect(await told("key list --disabled")).toMatchObject([
      { id, owner: `agent:${slug}`, key_hint, disabled_by: "operator", disabled_at: expect.any(String) },
    ])
    expect(await told("key list")).toMatchObject({ code: "usage" })
    const deprecate = await told("stack deprecate transfers --successor b")
    expect(deprecate).toMatchObject({ code: "usage", error: expect.stringMatching(/--message.*--clear/) as string })
    expect(await told(`agent disable ${slug} --message ${"x".repeat(501)}`)).toMatchObject({ code: "usage" })
  })

  test("limits of tokens are set by name, from 0 or none, for an existing account or stack", async () => {
    const { slug } = await service.signUp()
    expect(await told(`limits set agent:${slug} --send-per-minute 0 --concurrency 3`)).toEqual({
      subject: `agent:${slug}`,
      limits: { max_transaction_send_requests_per_minute: 0, max_transaction_concurrency: 3 },
    })
    expect(await told(`limits set agent:${slug} --send-per-minute none --request-bytes 10`)).toEqual({
      subject: `agent:${slug}`,
      limits: { max_transaction_concurrency: 3, max_transaction_request_bytes: 10 },
    })
    expect(await told("limits list")).toHaveLength(1)
    for (const [line, code] of [
      [`agent:${slug}`, "usage"],
      [`agent:${slug} --concurrency -1`, "usage"],
      [`agent:${slug} --concurrency 2147483648`, "usage"],
      ["agent:agt_0000000000 --concurrency 1", "agent-not-found"],
      ["stack:nowhere --concurrency 1", "stack-not-found"],
      ["user:999 --concurrency 1", "user-not-found"],
      ["user:99999999999 --concurrency 1", "user-not-found"],
      ["somebody --concurrency 1", "usage"],
    ] as const) {
      expect(await told(`limits set ${line}`)).toMatchObject({ code })
    }
  })
})

test("all invalid settings are reported at once, without a secret", async () => {
  const settings = {
    PORT: "x",
    SVC_LOG_LEVEL: "loud",
    SVC_SESSION_SIGNING_KEY: "hunter2",
    SVC_SESSION_SIGNING_KEY_FILE: "/x",
  }
  const problems = await readConfig(settings).catch((error: ConfigError) => error.problems)
  expect(problems).toEqual([
    expect.stringMatching(/^PORT: /),
    expect.stringMatching(/^SVC_LOG_LEVEL: /),
    expect.stringMatching(/^SVC_SESSION_SIGNING_KEY: set this or/),
    expect.stringMatching(/^SVC_SESSION_SIGNING_KEY: the signing key must be/),
  ])
  expect(JSON.stringify(problems)).not.toContain("hunter2")
})

test("in production a server's database needs a signing key; elsewhere a missing one is a warning", async () => {
  const unreachable = { ...env, DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/x" }
  const strict = startService(processRuntime({ ...unreachable, NODE_ENV: "production" }))
  await expect(strict).rejects.toThrow(/session-key generate/)
  const lax = startProgram([], unreachable)
  expect(await lax.exited).toBe(1)
  expect(lax.stdout()).toMatch(/replicas need the same signing key/)
  expect(lax.stderr()).toMatch(/ECONNREFUSED/)
  expect(lax.stdout() + lax.stderr()).not.toContain("hunter2")
})
