// @module-tag long
import { createTestDatabase, full } from "@svc/testing"
import { afterAll, test } from "vitest"
import { operate, type Replica, startReplica } from "../program.ts"
import { databaseKinds, temporaryFolder } from "../service.ts"
import { first, grown } from "./person.ts"

const kills = full ? 200 : 2
// That an embedded database survives kill -9 is shown by embedded.test.ts.
const kinds = full ? databaseKinds : databaseKinds.filter((kind) => kind === "postgres")

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

type Run = { id: number; status: string; deployment_id: number; steps: { status: string }[] }

test.concurrent.for(kinds)(
  "if a process is killed at any step on %s, every run still ends as expected, once",
  async (kind, { expect }) => {
    const { folder, remove } = temporaryFolder()
    ends.push(remove)
    // What a dead process had in hand waits for its lease, and its owner's builds too: each kill meets another owner.
    const owners = Math.min(kills, 20)
    const server = kind === "postgres" ? await createTestDatabase() : undefined
    if (server !== undefined) ends.push(server.stop)
    const env = {
      SVC_DATA_DIR: folder,
      SVC_LOG_LEVEL: "info",
      SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
      SVC_SPECS_PER_OWNER: "1000",
      ...(server === undefined ? {} : { DATABASE_URL: server.url }),
    }
    const keys: string[] = []
    for (let n = 0; n < owners; n++) {
      keys.push((await operate(["user", "create", "--email", `killed-${n}@example.org`], env)).json.api_key)
    }

    // Two replicas on a server: the other one goes on at once. Alone, a process finds what the dead one had.
    const replicas: Replica[] = []
    for (let n = 0; n < (kind === "postgres" ? 2 : 1); n++) replicas.push(await startReplica(env))
    ends.push(() => replicas.forEach(({ program }) => program.kill("SIGKILL")))
    const of = (n: number): Replica => {
      const replica = replicas[n % replicas.length]
      if (replica === undefined) throw new Error("no replica")
      return replica
    }
    /** Asks until there is an answer: a replica may just have been killed. */
    const ask = async <T>(owner: number, method: string, path: string, body?: object, once?: string): Promise<T> => {
      const headers = {
        authorization: `Bearer ${keys[owner]}`,
        "content-type": "application/json",
        ...(once === undefined ? {} : { "idempotency-key": once }),
      }
      for (let n = 0; ; n++) {
        const sent = { method, headers }
        const asked = fetch(`${of(n).url}${path}`, body === undefined ? sent : { ...sent, body: JSON.stringify(body) })
        const answer = await asked
          .then(async (response) => ({ status: response.status, json: await response.json() }))
          .catch(() => undefined)
        if (answer !== undefined && answer.status < 500) {
          expect([path, answer.json]).toEqual([path, answer.status < 300 ? answer.json : "no refusal"])
          return answer.json as T
        }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }

    const begun: { owner: number; spec: number; name: string; run: number }[] = []
    for (let kill = 0; kill < kills; kill++) {
      const owner = kill % owners
      const name = `killed-${kill}`
      const url = { websocket_url: `wss://killed.example/${name}`, visibility: "public" }
      const post = <T>(path: string, body: object, once: string) => ask<T>(owner, "POST", path, body, `${once} ${kill}`)
      const spec = await post<{ id: number }>("/api/specs", { name, ...url, ast_payload: first }, "spec")
      const publish = { workflow: "publish", spec_id: spec.id }
      await post("/api/automation/runs", publish, "first")
      const { id } = await post<Run>("/api/automation/runs", { ...publish, ast_payload: grown }, "second")
      begun.push({ owner, spec: spec.id, name, run: id })
      // Each time a little further on.
      const reached = async (): Promise<boolean> => {
        const run = await ask<Run>(owner, "GET", `/api/automation/runs/${id}`)
        return (
          run.steps.filter(({ status }) => status !== "queued").length >= (kill * 2 + 2) % 7 ||
          run.status === "succeeded"
        )
      }
      while (!(await reached()));
      const victim = of(kill)
      victim.program.kill("SIGKILL")
      await victim.program.exited
      replicas[kill % replicas.length] = await startReplica(env)
    }

    for (const { owner, spec, name, run } of begun) {
      const end = async () => (await ask<Run>(owner, "GET", `/api/automation/runs/${run}`)).status
      await expect.poll(end, { timeout: 90_000 }).toBe("succeeded")
      type Versions = readonly { version: number; current: boolean }[]
      // The other replica hears of it a moment later.
      const versions = async () =>
        (await ask<Versions>(owner, "GET", `/api/registry/${name}/versions`)).map((one) => [one.version, one.current])
      await expect.poll(versions).toEqual([
        [2, true],
        [1, false],
      ])
      const { deployment_id } = await ask<Run>(owner, "GET", `/api/automation/runs/${run}`)
      const events = await ask<{ new_status: string }[]>(owner, "GET", `/api/deployments/${deployment_id}/events`)
      expect(events.map(({ new_status }) => new_status)).toEqual(["active", "updating", "active", "updating"])
      const builds = await ask<{ spec_id: number; status: string }[]>(owner, "GET", "/api/builds?limit=100")
      expect(builds.filter(({ spec_id }) => spec_id === spec).map(({ status }) => status)).toEqual([
        "completed",
        "completed",
      ])
    }
  },
)
