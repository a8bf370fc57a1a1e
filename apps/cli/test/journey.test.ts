import { createTestDatabase, freePort, startProcess, type TestDatabase, type TestProcess } from "@svc/testing"
import { afterAll, beforeAll, expect, test } from "vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { app } from "../scripts/bundle.ts"
import { json, makeTool, type Tool } from "./tool.ts"

// The tool against the real API, as one agent uses it from its first day to the end of its keys.
let tool: Tool
let url: string
let api: TestProcess
let database: TestDatabase
beforeAll(async () => {
  tool = await makeTool()
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  database = await createTestDatabase()
  const env = {
    PORT: String(port),
    DATABASE_URL: database.url,
    SVC_SAMPLE_STACKS: "true",
    SVC_API_URL: url,
    SVC_DATA_DIR: join(tool.home, "data"),
    SVC_LOG_LEVEL: "debug",
  }
  api = startProcess(process.execPath, [join(app, "../platform-api/src/main.ts")], { env })
  await api.waitFor(/listening/)
}, 120_000)
afterAll(async () => {
  api.kill("SIGTERM")
  await api.exited
  await database.stop()
  await tool.remove()
})

const call = (args: readonly string[]) => tool.svc([...args, "--json"], { env: { SVC_API_URL: url } })
const svc = async (...args: string[]): Promise<Record<string, unknown>> => {
  const ended = await call(args)
  expect({ args, ...ended }).toMatchObject({ code: 0 })
  return Object(json(ended))
}
const refused = async (...args: string[]): Promise<unknown> => {
  const ended = await call(args)
  expect({ args, ...ended }).toMatchObject({ code: 1 })
  return Object(json(ended)).code
}

test("what explore shows of the whole registry, of one stack and of one entity is the same", async () => {
  const { registry } = await svc("explore")
  expect(Array.isArray(registry) && registry.length > 0).toBe(true)
  for (const stack of Array.isArray(registry) ? registry : []) {
    const { name, description, websocket_url, entities, visibility, schema } = stack
    expect(Object.keys(stack)).toEqual(["name", "description", "websocket_url", "entities", "visibility", "schema"])
    expect(visibility).toBe("public")
    expect(await svc("explore", String(name).toUpperCase())).toEqual({ name, description, websocket_url, schema })
    for (const [index, entity] of entities.entries()) {
      expect(await svc("explore", name, String(entity).toLowerCase())).toEqual(schema.entities[index])
    }
  }
  expect(await refused("explore", "no-such-stack")).toBe("stack-not-found")
})

test("an agent signs up, mints a token, rotates its key, and no key is in a log or an output", async () => {
  expect(await refused("auth", "status")).toBe("missing-credentials")
  const identity = await svc("auth", "signup", "--name", "Scout")
  expect(identity).toMatchObject({ display_name: "Scout", status: "active", api_url: url })
  expect(await svc("auth", "status")).toEqual(identity)
  const file = join(tool.home, "config/svc/credentials.json")
  const first: string = Object(JSON.parse(await readFile(file, "utf8")))[url].api_key

  const { registry } = await svc("explore")
  const target: string = Object(registry)[0].websocket_url
  expect(await svc("session", target, "--scope", "read")).toMatchObject({ token_type: "Bearer", scope: "read" })
  expect(await refused("session", "wss://not-listed.example")).toBe("agent-account-forbidden")
  expect(await refused("session", target, "--scope", "everything")).toBe("invalid-scope")

  const minted = await svc("keys", "mint", "--name", "second", "--save")
  expect(minted).toMatchObject({ name: "second", key_class: "secret" })
  const keys = Object.values(await svc("keys", "list")).map((key) => Object(key))
  expect(keys.map(({ name, current }) => ({ name, current }))).toEqual([
    { name: "signup", current: false },
    { name: "second", current: true },
  ])
  expect(await svc("keys", "revoke", String(keys[0].id))).toMatchObject({ revoked: true, remaining_secret_keys: 1 })
  expect(await refused("keys", "revoke", String(keys[0].id))).toBe("key-not-found")
  const revoked = await tool.svc(["auth", "login", "--json"], { stdin: first, env: { SVC_API_URL: url } })
  expect(json(revoked)).toMatchObject({ code: "invalid-api-key" })

  const rotated = await svc("keys", "rotate", "--overlap", "1h")
  const [, successor] = Object.values(await svc("keys", "list")).map((key) => Object(key))
  expect(successor).toMatchObject({ id: rotated["id"], current: true })

  const page = await svc("keys", "publishable", "--origin", "https://app.example")
  expect(page).toMatchObject({ key_class: "publishable", origin_allowlist: ["https://app.example"] })
  expect(await refused("keys", "publishable", "--origin", "app.example")).toBe("origin-invalid-scheme")
  expect(await refused("auth", "signup")).toBe("already-signed-up")
  await svc("auth", "logout")
  expect(await refused("keys", "list")).toBe("missing-credentials")

  const log = api.stdout() + api.stderr()
  expect(log).toContain("/api/agents/signup")
  for (const key of [first, String(minted["key"]), String(page["key"])]) expect(log).not.toContain(key)
})
