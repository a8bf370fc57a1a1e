import { execFile, execFileSync } from "node:child_process"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { startPostgres, type TestPostgres } from "@svc/testing"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { startTestService, temporaryFolder, type TestService } from "../service.ts"
import { idOf, importInto } from "./importing.ts"
import { sampleDocument } from "./sample-document.ts"

// Whole databases are made and filled here, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const run = promisify(execFile)

const { folder, remove } = temporaryFolder()
let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(async () => {
  await server.stop()
  remove()
})

/** Puts something of every kind into a service, and tells how to see that another has all of it. */
const fill = async (service: TestService) => {
  const agent = await service.signUp()
  const friend = await service.signUp()
  const ids = await importInto(service, sampleDocument(agent.slug, { shared_with: [friend.slug] }))
  const { body: minted } = await service.call("POST", "/api/agents/me/keys", { key: agent.key })
  await service.call("DELETE", `/api/agents/me/keys/${minted.id}`, { key: agent.key })
  const build = idOf(ids.builds, "build")
  const paths = [
    "/api/agents/me/keys",
    "/api/registry",
    "/api/specs",
    `/api/specs/${idOf(ids.specs, "spec")}/versions`,
    `/api/specs/${idOf(ids.specs, "spec")}/schema`,
    "/api/builds?limit=1&offset=0",
    `/api/builds/${build}`,
    "/api/deployments",
    `/api/deployments/${idOf(ids.deployments, "deployment")}/events`,
    "/api/automation/runs",
    `/api/automation/runs/${idOf(ids.runs, "first")}`,
  ]
  const seen = (from: TestService) =>
    Promise.all(
      [agent.key, friend.key].map((key) =>
        Promise.all(
          paths.map(async (path) => {
            const { status, body } = await from.call("GET", path, { key })
            // The use of a key is written down late, and shows in the list of keys alone.
            return [
              path,
              status,
              JSON.parse(JSON.stringify(body), (name, value: unknown) => (name === "last_used_at" ? null : value)),
            ]
          }),
        ),
      ),
    )
  // Life goes on: dead keys stay dead, ids go on after those of the backup, and the guards are in their places.
  const goesOn = async (restored: TestService) => {
    expect((await restored.call("GET", "/api/agents/me", { key: minted.key })).code).toBe("invalid-api-key")
    const late = await importInto(restored, sampleDocument(agent.slug))
    expect(idOf(late.builds, "build")).toBeGreaterThan(build)
    await restored.signUp()
    const query = (text: string) => restored.database().query(text, [build])
    await expect(query("update builds set status = 'completed' where id = $1")).rejects.toThrow(/follows from/)
    await expect(query("delete from build_events where build_id = $1")).rejects.toThrow(/only ever added/)
    await expect(
      query(
        "insert into build_events (build_id, event_type, new_status, created_at) values ($1, 's', 'queued', now())",
      ),
    ).rejects.toThrow(/does not become/)
    await expect(query("delete from audit_log where id = $1 or true")).rejects.toThrow(/only ever added/)
  }
  return { saved: await seen(service), seen, goesOn }
}

const majorOf = (command: string): number | undefined => {
  try {
    return Number(/(\d+)/.exec(execFileSync(command, ["--version"], { encoding: "utf8" }))?.[1])
  } catch {
    return undefined
  }
}

// PostgreSQL's own client programs come with no npm package; they must not be older than the server.
const client = majorOf("pg_dump")

test.runIf(client !== undefined)(
  "what pg_dump saved, pg_restore brings back whole, beside a running service",
  async (context) => {
    const service = await startTestService("postgres", { DATABASE_URL: server.url })
    const [version] = await service
      .database()
      .query<{ major: number }>("select current_setting('server_version_num')::integer / 10000 as major where $1", [
        true,
      ])
    if ((client ?? 0) < (version?.major ?? 0)) context.skip("pg_dump is older than the server")
    const { saved, seen, goesOn } = await fill(service)
    const file = join(folder, "backup.dump")
    await run("pg_dump", ["--format=custom", `--file=${file}`, server.url])
    await run("createdb", [`--maintenance-db=${server.url}`, "restored"])
    const url = server.url.replace(/postgres$/, "restored")
    await run("pg_restore", ["--clean", "--if-exists", "--no-owner", "--single-transaction", `--dbname=${url}`, file])
    const restored = await startTestService("postgres", { DATABASE_URL: url })
    expect(await seen(restored)).toEqual(saved)
    await goesOn(restored)
    await restored.close()
    await service.close()
  },
)

test("a copy of the embedded database's folder, made while the service is stopped, is a whole backup", async () => {
  const data = join(folder, "data")
  const service = await startTestService("embedded", { SVC_DATA_DIR: data })
  const { saved, seen, goesOn } = await fill(service)
  await service.close()
  const copy = join(folder, "copy")
  cpSync(data, copy, { recursive: true })
  const restored = await startTestService("embedded", { SVC_DATA_DIR: copy })
  expect(await seen(restored)).toEqual(saved)
  await goesOn(restored)
  await restored.close()
})
