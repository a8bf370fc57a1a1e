import { expect, test } from "vitest"
import { beginBuild } from "../../src/work/begin.ts"
import { lockJob } from "../../src/work/queue/jobs.ts"
import { beforeTests, testService } from "../service.ts"
import { first, newPerson } from "./person.ts"

const service = testService("postgres", { SVC_WORKER: "false" })
const owner = beforeTests(() => newPerson(service))

test("a build that a worker begins while its spec is unshared isn't shared either", async () => {
  const agent = await service.signUp()
  const spec = await owner.newSpec("lent", { visibility: "private", shared_with: [agent.slug] })
  const run = await owner.publish(spec.id, first)
  const [version] = await owner.get(`/api/specs/${spec.id}/versions`)
  let put: Promise<number> | undefined
  let isDone = false
  const build = await service.database().transaction(async (tx) => {
    // As in a worker's step.
    await lockJob(tx, "run", run.id)
    const begun = { ownerId: owner.id, specId: spec.id, specVersionId: version.id, allowBreaking: false, runId: run.id }
    const id = await beginBuild(tx, begun, new Date())
    put = owner.call("PUT", `/api/specs/${spec.id}`, { shared_with: [] }).then(({ status }) => {
      isDone = true
      return status
    })
    await expect.poll(async () => isDone || (await service.lockWaits()) > 0).toBe(true)
    return id
  })
  expect(await put).toBe(200)
  expect(await service.code("GET", `/api/builds/${build}`, { key: agent.key })).toBe("build-not-found")
  expect((await service.call("GET", "/api/builds", { key: agent.key })).body).toEqual([])
})
