import { expect, test } from "vitest"
import { createCompiler } from "../../src/compiler/compiler.ts"
import { approve } from "../../src/operator/publish.ts"
import { endBuild } from "../../src/work/endings.ts"
import { lockJobsOf } from "../../src/work/queue/jobs.ts"
import { lockBuild } from "../../src/work/records.ts"
import { createHandlers } from "../../src/work/steps/handlers.ts"
import { holdName } from "../../src/work/steps/publish-version.ts"
import { type InStep, Needed } from "../../src/work/queue/worker.ts"
import { beforeTests, serviceInTest, testService } from "../service.ts"
import { first, grown, newPerson, type Person } from "./person.ts"

// Public stacks need the operator's approval here.
const service = testService("postgres", { SVC_PUBLIC_STACKS: "operator" })
const owner = beforeTests(() => newPerson(service))
const approved = (name: string) => approve(service.database(), name, new Date())

const waitingText = (name: string) => `waits for the operator: stack approve ${name}`

/** Starts a build, and waits until it waits for the approval of this name. */
const waiting = async (person: Person, spec_id: number, name: string): Promise<number> => {
  const { status, body } = await person.call("POST", "/api/builds", { spec_id })
  expect([status, body.code]).toEqual([202, undefined])
  const message = async () => (await person.get(`/api/builds/${body.build_id}`)).status_message
  await expect.poll(message).toBe(waitingText(name))
  return body.build_id
}

test("a public build waits for its name's approval without blocking others", async () => {
  const open = await owner.newSpec("open", { ast_payload: first })
  const closed = await owner.newSpec("closed", { ast_payload: first, visibility: "private" })
  const build = await waiting(owner, open.id, "open")
  expect((await owner.built({ spec_id: closed.id })).status).toBe("completed")
  expect((await owner.get(`/api/builds/${build}`)).status).toBe("pushing")
  await approved("open")
  expect((await owner.endOfBuild(build)).status).toBe("completed")
})

test("the end of one build leaves the name to another one that waits for its approval", async () => {
  const spec = await owner.newSpec("pair", { ast_payload: first })
  const one = await waiting(owner, spec.id, "pair")
  const other = await waiting(owner, spec.id, "pair")
  expect((await owner.call("POST", `/api/builds/${one}/cancel`)).status).toBe(202)
  await approved("pair")
  expect((await owner.endOfBuild(other)).status).toBe("completed")
})

test("a run that is given up takes its build with it: readers don't get what failed", async () => {
  const spec = await owner.newSpec("given-up")
  const run = await owner.publish(spec.id, first)
  const build = async () => (await owner.get(`/api/builds?spec_id=${spec.id}`))[0]
  await expect.poll(async () => (await build())?.status_message).toBe(waitingText("given-up"))
  await service
    .database()
    .query("update jobs set claims = 3, next_at = now() where kind = 'run' and record_id = $1", [run.id])
  expect(await owner.endOfRun(run.id)).toMatchObject({ status: "failed", error_code: "given-up" })
  expect(await build()).toMatchObject({ status: "failed", status_message: "its run failed" })
  expect((await service.call("GET", "/api/registry/given-up")).status).toBe(404)
})

test("a build that waits for approval goes on as soon as its spec needs none", async () => {
  const spec = await owner.newSpec("shy", { ast_payload: first })
  const build = await waiting(owner, spec.id, "shy")
  await owner.call("PUT", `/api/specs/${spec.id}`, { visibility: "private" })
  expect((await owner.endOfBuild(build)).status).toBe("completed")
})

test("deleting a deployment leaves the name to a build that waits for approval", async () => {
  const spec = await owner.newSpec("again", { ast_payload: first, visibility: "private" })
  await owner.built({ spec_id: spec.id })
  const [deployment] = await owner.get("/api/deployments")
  await owner.turn(deployment.id, "stop")
  await owner.call("PUT", `/api/specs/${spec.id}`, { visibility: "public" })
  const build = await waiting(owner, spec.id, "again")
  expect((await owner.call("DELETE", `/api/deployments/${deployment.id}`)).status).toBe(200)
  await expect.poll(() => approved("again").catch((error: unknown) => error)).toMatchObject({ approved: true })
  expect((await owner.endOfBuild(build)).status).toBe("completed")
})

test("stopping a deployment ends the builds and runs that would bring its stack back", async () => {
  const spec = await owner.newSpec("stopped", { ast_payload: first, visibility: "private" })
  const { deployment_id } = await owner.published(spec.id, undefined)
  expect((await owner.call("PUT", `/api/specs/${spec.id}`, { visibility: "public" })).status).toBe(200)
  const build = await waiting(owner, spec.id, "stopped")
  const run = await owner.publish(spec.id, undefined, { approval: true })
  await owner.until(`/api/automation/runs/${run.id}`, "waiting")
  await owner.turn(deployment_id, "stop")
  const message = "its deployment was stopped"
  const ended = await owner.get(`/api/builds/${build}`)
  expect([ended.status, ended.status_message]).toEqual(["failed", message])
  expect((await owner.get(`/api/automation/runs/${run.id}`)).error_code).toBe("deployment-stopped")
})

test("a spec that is renamed while its build waits reserves only the new name", async () => {
  const spec = await owner.newSpec("before", { ast_payload: first })
  const build = await waiting(owner, spec.id, "before")
  expect((await owner.call("PUT", `/api/specs/${spec.id}`, { name: "after" })).status).toBe(200)
  const message = async () => (await owner.get(`/api/builds/${build}`)).status_message
  await expect.poll(message).toBe(waitingText("after"))
  const other = await newPerson(service)
  const url = { websocket_url: "wss://people.example/other" }
  const { id } = await other.newSpec("before", { ast_payload: first, ...url })
  await waiting(other, id, "before")
})

test("an approval is seen by a build that is about to wait for it", async () => {
  const spec = await owner.newSpec("late", { ast_payload: first })
  const build = await waiting(owner, spec.id, "late")
  await service.database().transaction(async (tx) => {
    await approved("late")
    expect(await holdName(tx, "late", { ownerId: owner.id, specId: spec.id })).toBe(true)
  })
  expect((await owner.endOfBuild(build)).status).toBe("completed")
})

test("an approval and the cancellation of a build that waits for it wait for each other without a deadlock", async () => {
  const spec = await owner.newSpec("crossing", { ast_payload: first })
  const build = await waiting(owner, spec.id, "crossing")
  const approval = await service.database().transaction(async (tx) => {
    await lockJobsOf(tx, spec.id)
    const answer = approved("crossing").catch((error: unknown) => error)
    await expect.poll(service.lockWaits).toBe(1)
    await endBuild(tx, await lockBuild(tx, build), "cancelled", "cancelled by its owner", new Date())
    return { answer }
  })
  expect(await approval.answer).toMatchObject({ code: "stack-not-found" })
})

test("a build doesn't overtake an earlier one of its spec that went on meanwhile", async () => {
  const idle = await serviceInTest("postgres", { SVC_WORKER: "false" })
  const person = await newPerson(idle)
  const spec = await person.newSpec("ordered", { ast_payload: first })
  const build = async (): Promise<number> =>
    (await person.call("POST", "/api/builds", { spec_id: spec.id })).body.build_id
  const earlier = await build()
  await person.call("POST", `/api/specs/${spec.id}/versions`, { ast_payload: grown })
  const later = await build()
  const compiler = createCompiler({ deadlineMs: 10_000, now: () => performance.now() })
  const config = { streamUrlTemplate: undefined, publicStacks: "people" } as const
  const handlers = createHandlers({ now: () => new Date(), config, hook: undefined, compiler, astUrl: () => "" })
  const inStep: InStep = (work) => idle.database().transaction(work)
  /** Takes a build as far as a worker does that holds it. */
  const advance = async (id: number): Promise<string> => {
    const job = { kind: "build", id, claims: 1, attempts: 0, age_ms: 0 } as const
    for (let isOver = false; !isOver;) {
      try {
        isOver = (await handlers.build.step(job, inStep)) === "rest"
      } catch (error) {
        if (!(error instanceof Needed)) throw error
        await error.make()
      }
    }
    return (await person.get(`/api/builds/${id}`)).status
  }
  try {
    expect(await advance(later)).toBe("queued")
    expect(await advance(later)).toBe("pushing")
    for (const status of ["queued", "completed"]) expect(await advance(earlier)).toBe(status)
    expect(await advance(later)).toBe("completed")
  } finally {
    await compiler.close()
  }
})
