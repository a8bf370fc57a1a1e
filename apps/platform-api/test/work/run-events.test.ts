import { expect, test } from "vitest"
import { beforeTests, testService } from "../service.ts"
import { withSql } from "../with-sql.ts"
import { first, newPerson } from "./person.ts"

const service = testService("postgres")
const owner = beforeTests(() => newPerson(service))

const waitingRun = async (name: string): Promise<{ readonly path: string; readonly specId: number }> => {
  const spec = await owner.newSpec(name, { ast_payload: first })
  const { id } = await owner.publish(spec.id, undefined, { approval: true })
  const path = `/api/automation/runs/${id}`
  await owner.until(path, "waiting")
  return { path, specId: spec.id }
}
type How = { readonly method?: "HEAD"; readonly signal?: AbortSignal; readonly since?: string }
const follow = (path: string, key: string, { since, ...how }: How = {}) => {
  const headers = { authorization: `Bearer ${key}`, ...(since !== undefined && { "last-event-id": since }) }
  return fetch(`${service.url}${path}/events`, { headers, ...how })
}
/** What a stream said until it ended. */
const eventsOf = async (stream: Response): Promise<string[]> => (await stream.text()).trim().split("\n\n")
const onlyWaiting = [expect.stringContaining('{"status":"waiting"}')]

test("it sends the current state first, then every change until the run is over, and no proxy may compress it", async () => {
  const { path } = await waitingRun("followed")
  const stream = await follow(path, owner.key)
  expect(stream.headers.get("content-type")).toBe("text/event-stream")
  expect(stream.headers.get("cache-control")).toContain("no-transform")
  const told = eventsOf(stream)
  await owner.call("POST", `${path}/resume`)
  const events = await told
  expect(events[0]).toMatch(/^id: \d+\nevent: status\ndata: \{"status":"waiting"\}$/)
  expect(events.at(-1)).toContain('{"status":"succeeded"}')
  expect(events.some((event) => event.includes('{"name":"verify","status":"succeeded"}'))).toBe(true)
  const since = /^id: (\d+)/.exec(events.at(-2) ?? "")?.[1] ?? ""
  expect(await eventsOf(await follow(path, owner.key, { since }))).toEqual([events.at(-1)])
  expect(await eventsOf(await follow(path, owner.key, { since: "999999999" }))).toEqual([
    expect.stringContaining("event: begin-again"),
    expect.stringContaining('{"status":"succeeded"}'),
  ])
})

test("it ends when its key is revoked; the owner's other streams continue", async () => {
  const { path } = await waitingRun("followed-twice")
  const { body: lost } = await owner.call("POST", "/api/auth/keys", { name: "lost laptop" })
  const [kept, ended] = [eventsOf(await follow(path, owner.key)), eventsOf(await follow(path, lost.key))]
  expect((await owner.call("DELETE", `/api/auth/keys/${lost.id}`)).status).toBe(200)
  expect(await ended).toEqual(onlyWaiting)
  expect((await follow(path, lost.key)).status).toBe(401)
  await owner.call("POST", `${path}/resume`)
  expect((await kept).at(-1)).toContain('{"status":"succeeded"}')
})

test("it ends for those with whom the run is no longer shared", async () => {
  const { path, specId } = await waitingRun("shared-for-a-while")
  const agent = await service.signUp()
  await owner.call("PUT", `/api/specs/${specId}`, { shared_with: [agent.slug] })
  const stream = await follow(path, agent.key)
  expect(stream.status).toBe(200)
  const told = eventsOf(stream)
  await owner.call("PUT", `/api/specs/${specId}`, { shared_with: [] })
  expect(await told).toEqual(onlyWaiting)
  expect((await follow(path, agent.key)).status).toBe(404)
})

test("the number of open streams is limited; HEAD opens none", async () => {
  const { path } = await waitingRun("streamed")
  for (let n = 0; n < 10; n++) {
    const head = await follow(path, owner.key, { method: "HEAD" })
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream"])
  }
  const closing = new AbortController()
  const streams: Response[] = []
  for (let n = 0; n < 5; n++) streams.push(await follow(path, owner.key, { signal: closing.signal }))
  const refused = await owner.call("GET", `${path}/events`)
  expect([refused.status, refused.code, refused.body.error]).toEqual([
    409,
    "limit-reached",
    expect.stringContaining("SVC_EVENT_STREAMS_PER_OWNER"),
  ])
  // Also keeps them from being collected, which would close them.
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  closing.abort()
  await expect.poll(async () => (await follow(path, owner.key, { signal: AbortSignal.timeout(500) })).status).toBe(200)
})

test("a stream that was opened during an outage ends if its run is over", async () => {
  const { path } = await waitingRun("in-the-dark")
  expect((await owner.call("POST", `${path}/cancel`)).status).toBe(202)
  const [last = ""] = await eventsOf(await follow(path, owner.key))
  const since = /^id: (\d+)/.exec(last)?.[1] ?? ""
  const opened = await withSql(service.databaseUrl, (sql) =>
    sql.begin(async (tx) => {
      await tx`lock table run_changes in access exclusive mode`
      const stream = follow(path, owner.key, { since })
      // Its first statement runs out of time.
      await expect.poll(service.lockWaits).toBe(1)
      await expect.poll(service.lockWaits).toBe(0)
      return { stream }
    }),
  )
  expect(await eventsOf(await opened.stream)).toEqual([""])
})
