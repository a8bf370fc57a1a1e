// The tool against the real API: as one agent uses it from its first day to the end of its keys, then as a person publishes.
import { randomBytes } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { mintKey } from "@svc/keys"
import { createTestDatabase, freePort, startProcess } from "@svc/testing"
import { afterAll, expect, test } from "vitest"
import { expectError, json, makeTool, resultOf } from "./tool.ts"

const root = join(import.meta.dirname, "../../..")
const main = join(root, "apps/platform-api/src/main.ts")

const tool = await makeTool()
const port = String(await freePort())
const url = `http://127.0.0.1:${port}`
const database = await createTestDatabase()
const env = {
  DATABASE_URL: database.url,
  SVC_DATA_DIR: join(tool.home, "data"),
  PORT: port,
  SVC_SAMPLE_STACKS: "true",
  SVC_API_URL: url,
}
const made = startProcess(process.execPath, [main, "user", "create", "--email", "owner@example.com"], { env })
if ((await made.exited) !== 0) throw new Error(made.stderr())
const { api_key: personsKey } = JSON.parse(made.stdout()) as { api_key: string }
const platform = startProcess(process.execPath, [main], { env })
afterAll(async () => {
  platform.kill("SIGTERM")
  await platform.exited
  await database.stop()
})
await platform.waitFor(/listening/)
const ast: { entities: unknown[] } = JSON.parse(
  await readFile(join(root, "apps/platform-api/stacks/transfers.stack.json"), "utf8"),
)
await writeFile(join(tool.home, "first.json"), JSON.stringify(ast))
await writeFile(join(tool.home, "breaking.json"), JSON.stringify({ ...ast, entities: ast.entities.slice(1) }))

const svc = (args: string, stdin = "", own: Record<string, string> = {}) =>
  tool.svc(args.split(" "), { stdin, env: { SVC_API_URL: url, ...own } })

/** The JSON of a call that succeeds. */
const done = async (args: string): Promise<Record<string, unknown>> => Object(resultOf(await svc(`${args} --json`)))
/** Expects a call to fail with this code and text. Returns the document. */
const fails = async (args: string, ...expected: [code: string, text?: string | RegExp]) =>
  expectError(await svc(`${args} --json`), ...expected)

test("explore shows the same for the whole registry, one stack and one entity", async () => {
  const { registry } = await done("explore")
  expect(Array.isArray(registry) && registry.length > 0).toBe(true)
  for (const stack of Array.isArray(registry) ? registry : []) {
    const { name, description, websocket_url, entities, visibility, schema } = stack
    expect(Object.keys(stack)).toEqual(["name", "description", "websocket_url", "entities", "visibility", "schema"])
    expect(visibility).toBe("public")
    expect(await done(`explore ${String(name).toUpperCase()}`)).toEqual({ name, description, websocket_url, schema })
    for (const [index, entity] of entities.entries()) {
      expect(await done(`explore ${name} ${String(entity).toLowerCase()}`)).toEqual(schema.entities[index])
    }
  }
})

test("an agent's key is rotated in place, and the API's errors are reported by their codes", async () => {
  const identity = await done("auth signup --name Scout")
  expect(identity).toMatchObject({ display_name: "Scout", status: "active", api_url: url })
  expect(await done("auth status")).toEqual(identity)
  const rotated = await done("keys rotate --overlap 1h")
  const keys = Object.values(await done("keys list"))
  expect(keys).toMatchObject([{ current: false }, { id: rotated["id"], current: true }])
  const { registry } = await done("explore")
  const target: string = Object(registry)[0].websocket_url
  expect(await done(`session ${target} --scope read`)).toMatchObject({ token_type: "Bearer", scope: "read" })
  await fails("session wss://not-listed.example", "agent-account-forbidden")
  await fails(`session ${target} --scope everything`, "invalid-scope")
  await fails("keys revoke 999", "key-not-found")
  const last = await done("keys rotate --overlap 0")
  expect(Object.values(await done("keys list"))).toMatchObject([{ current: false }, { id: last["id"], current: true }])
  await fails("keys publishable --origin app.example", "origin-invalid-scheme")
  await fails("auth signup", "already-signed-up")
  await done("auth logout")
  await fails("keys list", "missing-credentials")
})

test("publishing without a person's key fails with the next step", async () => {
  const refused = await svc("push first.json --name my-transfers --json")
  expectError(refused, "missing-credentials", /person's key.*svc auth login/)
})

test("a person's key is stored next to the agent's; status shows both accounts, never the keys", async () => {
  await done("auth signup")
  const login = await svc("auth login --json", personsKey)
  expect(json(login)).toMatchObject({ slug: null, status: "active", key_hint: expect.stringMatching(/^svc_sk_…/) })
  const status = await svc("auth status --json")
  expect(json(status)).toMatchObject({
    slug: expect.stringMatching(/^agt_/),
    key_hint: expect.stringMatching(/^svc_ak_…/),
    person: { key_hint: expect.stringMatching(/^svc_sk_…/) },
  })
  expect(status.stdout + login.stdout + login.stderr).not.toContain(personsKey)
  // A key that is stored or signed up doesn't replace the environment's.
  const unset = "Next: unset it to use the stored key, or set it to another key"
  expectError(await svc("keys list --json", "", { SVC_API_KEY: personsKey }), "agent-account-required", unset)
  const unknown = { SVC_API_KEY: mintKey("ak", randomBytes, randomBytes(32)) }
  expectError(await svc("auth status --json", "", unknown), "invalid-api-key", unset)
  expectError(await svc("auth login --json", unknown.SVC_API_KEY, unknown), "invalid-api-key", "FILE-WITH-ANOTHER-KEY")
  const agents = {
    SVC_API_KEY: JSON.parse(await readFile(join(tool.home, "config/svc/credentials.json"), "utf8"))[url].api_key,
  }
  expectError(await svc("push first.json --name a --json", "", agents), "missing-credentials", unset)
  const person = await svc("auth status --json", "", { SVC_API_KEY: personsKey })
  expect(json(person)).toMatchObject({ slug: null, key_hint: null, person: { key_hint: expect.any(String) } })
  expect(
    await svc("auth login --json", `${personsKey.slice(0, -1)}${personsKey.endsWith("x") ? "y" : "x"}`),
  ).toMatchObject({ code: 1 })
})

test("the name of somebody else's stack is rejected before a spec is made that could never be published", async () => {
  await fails("push first.json --name Transfers", "stack-name-taken", "somebody else's")
  // At the registry it is the path of the feed.
  await fails("push first.json --name changes", "invalid-request", "not be `changes`")
  await fails("lock changes", "stack-not-found")
  expect(await done("specs")).toEqual([])
})

test("a rejected AST changes nothing, and its first errors are all printed", async () => {
  await writeFile(join(tool.home, "faulty.json"), '{"stack_name":"","entities":[{}]}')
  const refused = await svc("push faulty.json --name faulty --json")
  expectError(refused, "invalid-request")
  for (const fault of ["ast_payload.stack_name", "ast_payload.entities[0].state_name"]) {
    expect(refused.stderr).toContain(fault)
  }
  expect(await done("specs")).toEqual([])
})

test("push publishes and follows the run; results are listed; a breaking change waits for approval", async () => {
  const options = "--name my-transfers --websocket-url wss://stack.example/my-transfers --visibility public"
  const first = await svc(`push first.json ${options} --json`)
  expect(first.stderr).toContain("svc runs ")
  expect(resultOf(first)).toMatchObject({ workflow: "publish", status: "succeeded" })
  await expect.poll(() => svc("explore my-transfers")).toMatchObject({ code: 0 })
  expect(await done("explore my-transfers")).toMatchObject({ name: "my-transfers" })
  expect(await done("specs")).toMatchObject([{ name: "my-transfers", latest_version: 1 }])
  expect((await svc("specs")).stdout).toMatch(/^ID +NAME +LATEST VERSION/)

  const waiting = await svc("push breaking.json --name my-transfers --json")
  expect(expectError(waiting, "run-waiting")).toMatchObject({ run: { status: "waiting" } })
  const { run } = json(waiting) as { run: { id: number } }
  expect(waiting.stderr).toMatch(
    new RegExp(`breaks readers: .*entity SolTransfer removed.*svc runs resume ${run.id}`, "s"),
  )
  expect(await done(`runs resume ${run.id} --wait`)).toMatchObject({ id: run.id, status: "succeeded" })
  await done("push first.json --name My-Transfers --allow-breaking")
  expect((await svc("runs")).stdout).toMatch(/publish +\d+ +succeeded/)
  expect(Object.keys(await done("builds")).length).toBeGreaterThanOrEqual(3)
})

test("a deployment is stopped, started, rolled back and deleted; an operation its state forbids is an error", async () => {
  const id = Object((await done("deployments"))[0]).id
  const status = () => done(`deployments ${id}`)
  const spec = Object((await done("specs"))[0]).id
  const headers = { authorization: `Bearer ${personsKey}`, "content-type": "application/json" }
  const body = JSON.stringify({ deprecated: { message: "Ends soon." } })
  expect((await fetch(`${url}/api/specs/${spec}`, { method: "PUT", headers, body })).status).toBe(200)
  expect((await svc("specs")).stdout).toContain("Ends soon.")
  await fails(`deployments delete ${id}`, "deployment-active")
  expect(await done(`deployments rollback ${id} --to 1 --wait`)).toMatchObject({
    status: "completed",
    events: expect.any(Array),
  })
  await expect.poll(status).toMatchObject({ status: "active", current_version: 1 })
  const stopping = await svc(`deployments stop ${id}`)
  expect([stopping.code, stopping.stderr]).toEqual([0, expect.stringContaining(`svc deployments ${id}`)])
  await expect.poll(status).toMatchObject({ status: "stopped" })
  // The registry follows the database after a moment.
  await expect.poll(async () => (await svc("explore my-transfers")).code).toBe(1)
  await fails("explore my-transfers", "stack-not-found")
  expect(await done(`deployments restart ${id} --wait`)).toMatchObject({ status: "active" })
  expect(await done(`deployments stop ${id} --wait`)).toMatchObject({ status: "stopped" })
  expect((await svc(`deployments delete ${id}`)).code).toBe(0)
})

test("a wrong file, word or number is reported before any request", async () => {
  await writeFile(join(tool.home, "list.json"), "[]")
  await fails("push list.json --name a", "invalid-ast")
  await fails("push none.json --name a", "unreadable-file")
  await fails("push /dev/zero --name a", "unreadable-file")
  for (const args of [
    "push first.json",
    "runs resume",
    "runs resume x",
    "runs begin 1",
    "deployments 1 2",
    "builds stop 1",
  ]) {
    expect(await svc(args)).toMatchObject({ code: 2 })
  }
})
