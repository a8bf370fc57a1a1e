import { full, startPostgres } from "@svc/testing"
import { beforeAll, expect, test } from "vitest"
import { beforeTests, testService, untilServed } from "../service.ts"
import { first, grown, newPerson } from "./person.ts"

// Two replicas on one server whose clocks do not agree: the one that works is ten seconds behind.
const server = beforeTests(startPostgres, ({ stop }) => stop())
const env = () => ({
  DATABASE_URL: server.url,
  SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
  SVC_SPECS_PER_OWNER: "100000",
  SVC_WAITING_BUILDS_PER_OWNER: "1000",
  SVC_WAITING_RUNS_PER_OWNER: "1000",
})
const service = testService("postgres", () => ({ ...env(), SVC_WORKER: "false" }))
const late = testService("postgres", env)
const owner = beforeTests(() => newPerson(service))
beforeAll(() => {
  late.clock.offsetMs = -10_000
})

test("a worker with a slow clock finishes a run, and its times never go back", async () => {
  const spec = await owner.newSpec("behind")
  const run = await owner.published(spec.id, first)
  expect([run.status, run.error_message]).toEqual(["succeeded", null])
  expect(run.created_at <= run.started_at && run.started_at <= run.completed_at).toBe(true)
})

test("a build of a stack without a URL is accepted, and fails with the reason", async () => {
  const spec = await owner.newSpec("nowhere", { ast_payload: first, websocket_url: null })
  const build = await owner.built({ spec_id: spec.id })
  const why = expect.stringContaining("the spec has no websocket_url")
  expect([build.status, build.status_message]).toEqual(["failed", why])
})

test("of two owners who build one name at once, one gets it and the other an error", async () => {
  const people = await Promise.all([newPerson(service), newPerson(service)])
  const ended = await Promise.all(
    people.map(async (person, n) => {
      const url = { websocket_url: `wss://people.example/wanted-${n}` }
      const spec = await person.newSpec("wanted", { ast_payload: first, ...url })
      const { status, body } = await person.call("POST", "/api/builds", { spec_id: spec.id })
      if (status !== 202) return body.code as string
      const build = await person.endOfBuild(body.build_id)
      return build.status === "failed" ? (build.status_message as string).split(":", 1)[0] : "completed"
    }),
  )
  expect(ended.toSorted((a = "", b = "") => (a < b ? -1 : 1))).toEqual(["completed", "stack-name-taken"])
})

test("runs, builds and specs can be cancelled and deleted at any moment without a deadlock", async () => {
  // Busy machines answer late; what counts is what the server says of waits.
  const ask = (method: string, path: string, body?: object) =>
    untilServed(() => owner.call(method, path, body), Infinity)
  const hurry = async (n: number): Promise<void> => {
    const name = `hurry-${n}`
    const url = { websocket_url: `wss://people.example/${name}` }
    const spec = (await ask("POST", "/api/specs", { name, ...url, ast_payload: first })).body.id as number
    const publish = { workflow: "publish", spec_id: spec, ...(n % 2 === 0 ? {} : { ast_payload: grown }) }
    const run = (await ask("POST", "/api/automation/runs", publish)).body.id as number
    // Each a little further on: some have a build by now.
    let builds: { id: number; spec_id: number }[] = []
    for (let look = 0; look < n % 5; look++) builds = (await ask("GET", "/api/builds?limit=100")).body
    await Promise.all([
      ask("POST", `/api/automation/runs/${run}/cancel`),
      ...builds.filter(({ spec_id }) => spec_id === spec).map(({ id }) => ask("POST", `/api/builds/${id}/cancel`)),
      ...(n % 3 === 0 ? [ask("DELETE", `/api/specs/${spec}`)] : []),
    ])
  }
  for (let round = 0; round < (full ? 100 : 2); round++) {
    await Promise.all(Array.from({ length: 8 }, (_, n) => hurry(round * 8 + n)))
  }
  expect((await server.log()).split("\n").filter((line) => line.includes("deadlock"))).toEqual([])
})

test("several owners can share with the same agents, and begin and end what they share, without a deadlock", async () => {
  const agents = await Promise.all([late.signUp(), late.signUp(), late.signUp()])
  const owners = await Promise.all(Array.from({ length: 4 }, () => newPerson(service)))
  const lend = async (person: (typeof owners)[number], n: number, round: number): Promise<void> => {
    const ask = (method: string, path: string, body?: object) =>
      untilServed(() => person.call(method, path, body), Infinity)
    const wanted = (turn: number) => ({ shared_with: [agents[turn % 3]?.slug, agents[(turn + 1) % 3]?.slug] })
    const name = `lent-${round}-${n}`
    const url = { websocket_url: `wss://people.example/${name}` }
    const made = { name, ...url, ast_payload: first, visibility: "private", ...wanted(n) }
    const { id } = (await ask("POST", "/api/specs", made)).body
    const publish = { workflow: "publish", spec_id: id }
    for (let turn = 0; turn < 10; turn++) {
      await Promise.all([
        ask("PUT", `/api/specs/${id}`, wanted(n + turn)),
        ...(turn % 4 === 0 ? [ask("POST", "/api/automation/runs", publish)] : []),
      ])
    }
    await ask("DELETE", `/api/specs/${id}`)
  }
  for (let round = 0; round < (full ? 20 : 2); round++)
    await Promise.all(owners.map((person, n) => lend(person, n, round)))
  expect((await server.log()).split("\n").filter((line) => line.includes("deadlock"))).toEqual([])
})
