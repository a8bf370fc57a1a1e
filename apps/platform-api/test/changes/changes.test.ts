import { expect, test } from "vitest"
import { changeKinds } from "../../src/db/schema/index.ts"
import { deprecate, unpublish } from "../../src/operator/publish.ts"
import { createChangeFeed, forgetChanges, mostLookedThrough } from "../../src/registry/changes.ts"
import { createRegistry } from "../../src/registry/registry.ts"
import { beforeTests, besides, publishStack, serviceInTest, testService } from "../service.ts"
import { broken, first, grown, newPerson } from "../work/person.ts"
import { changesAfter, followChanges, type SeenChange } from "./following.ts"

const service = testService("postgres", { SVC_REGISTRY_REQUESTS_PER_MINUTE: "0" })
const owner = beforeTests(() => newPerson(service))

const newest = async (): Promise<number> => (await service.call("GET", "/api/registry/changes")).body.next
const revision = async (): Promise<number> => {
  const sql = "select revision::float8 as revision from registry_state where id = $1"
  return (await service.database().query<{ revision: number }>(sql, [1]))[0]?.revision ?? 0
}
const put = (id: number, body: object) => owner.call("PUT", `/api/specs/${id}`, body)
const short = (changes: readonly SeenChange[]) =>
  changes.map(({ stack, kind: what, version }) => [stack, what, version])
const kindsAfter = async (after: number, reader: Parameters<typeof changesAfter>[2]) =>
  (await changesAfter(service, after, reader)).map(({ kind: what }) => what)
const releaseOf = async (specId: number, ast: unknown) => {
  const run = await owner.published(specId, ast, { allow_breaking: true })
  expect(run.status).toBe("succeeded")
  return run
}

test("publishing and rolling back report the previous version and what the change means for readers", async () => {
  const after = await newest()
  const spec = await owner.newSpec("told")
  await owner.call("POST", `/api/specs/${spec.id}/versions`, { ast_payload: first, message: "the first" })
  await releaseOf(spec.id, undefined)
  await releaseOf(spec.id, grown)
  const run = await releaseOf(spec.id, broken)
  // The second time it is what is deployed already.
  for (let n = 0; n < 2; n++) {
    const { body } = await owner.call("POST", `/api/deployments/${run.deployment_id}/rollback`, { to_version: 1 })
    expect((await owner.endOfBuild(body.build_id)).status).toBe("completed")
  }
  const changes = await changesAfter(service, after, { stack: "told" })
  expect(changes).toMatchObject([
    { kind: "published", version: 1, verdict: "none", bump: "none", message: "the first" },
    { kind: "published", version: 2, previous_version: 1, verdict: "compatible" },
    { kind: "published", version: 3, previous_version: 2, verdict: "breaking", bump: "major" },
    { kind: "rolled-back", version: 1, previous_version: 3, verdict: "breaking" },
  ])
  expect(changes[0]).not.toHaveProperty("previous_version")
  expect(changes.map(({ at }) => at)).toEqual(changes.map(() => expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/)))
  const ids = changes.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})

test("a stopped stack is withdrawn, and restored when it restarts", async () => {
  const spec = await owner.newSpec("paused")
  const { deployment_id } = await releaseOf(spec.id, first)
  const after = await newest()
  await owner.turn(deployment_id, "stop")
  await owner.turn(deployment_id, "restart")
  expect(await changesAfter(service, after)).toMatchObject([
    { stack: "paused", kind: "withdrawn", version: 1, verdict: "breaking", bump: "major" },
    { stack: "paused", kind: "restored", version: 1, verdict: "none" },
  ])
})

test("deprecating a stack, changing the message and withdrawing it are each a change with the message", async () => {
  const spec = await owner.newSpec("left")
  await releaseOf(spec.id, first)
  const after = await newest()
  await put(spec.id, { deprecated: { message: "leave", successor: "told" } })
  await put(spec.id, { deprecated: { message: "leave", successor: "told" } })
  await put(spec.id, { deprecated: { message: "leave now" } })
  await put(spec.id, { deprecated: null })
  const changes = await changesAfter(service, after)
  expect(changes).toMatchObject([
    { kind: "deprecated", message: "leave", successor: "told", verdict: "none" },
    { kind: "deprecated", message: "leave now" },
    { kind: "undeprecated" },
  ])
  expect(changes[1]).not.toHaveProperty("successor")
})

test("a change of visibility is shown to those it affects, and past changes by today's visibility", async () => {
  const [anybody, keyed, mine] = [{}, { key: (await service.signUp()).key }, { key: owner.key }]
  const tell = (after: number) =>
    Promise.all([anybody, keyed, mine].map((reader) => kindsAfter(after, { ...reader, stack: "hidden" })))
  const start = await newest()
  const spec = await owner.newSpec("hidden", { visibility: "private" })
  await releaseOf(spec.id, first)
  expect(await tell(start)).toEqual([[], [], ["published"]])
  const steps = [
    ["global", [[], ["published"], []]],
    ["public", [["published"], [], []]],
    ["private", [["withdrawn"], ["withdrawn"], []]],
    ["public", [["published"], ["published"], []]],
    ["global", [["withdrawn"], [], []]],
  ] as const
  for (const [visibility, expected] of steps) {
    const after = await revision()
    await put(spec.id, { visibility })
    expect([visibility, await tell(after)]).toEqual([visibility, expected])
  }
  // Anybody sees what was taken away, and nothing else.
  expect((await tell(start))[0]).toEqual(["withdrawn", "withdrawn"])
  expect((await tell(start))[2]).toEqual(["published"])
})

test("sharing appears as published and unsharing as withdrawn, only to the agents concerned", async () => {
  const [one, two] = [await service.signUp(), await service.signUp()]
  const spec = await owner.newSpec("lent", { visibility: "private", shared_with: [one.slug] })
  await releaseOf(spec.id, first)
  const after = (await changesAfter(service, 0, { key: owner.key })).at(-1)?.id ?? 0
  await put(spec.id, { shared_with: [two.slug] })
  expect(short(await changesAfter(service, after, { key: one.key }))).toEqual([["lent", "withdrawn", 1]])
  expect(short(await changesAfter(service, 0, { key: one.key, stack: "lent" }))).toEqual([["lent", "withdrawn", 1]])
  expect(short(await changesAfter(service, after, { key: two.key }))).toEqual([["lent", "published", 1]])
  expect(short(await changesAfter(service, after, { key: owner.key }))).toEqual([])
  expect(short(await changesAfter(service, after))).toEqual([])
})

test("today's visibility also counts for a stopped stack, even after its spec is deleted", async () => {
  const agent = await service.signUp()
  const spec = await owner.newSpec("gone")
  const { deployment_id } = await releaseOf(spec.id, first)
  await owner.turn(deployment_id, "stop")
  const kindsFor = (key?: string) => kindsAfter(0, { stack: "gone", ...(key && { key }) })
  expect(await kindsFor()).toEqual(["published", "withdrawn"])
  await put(spec.id, { visibility: "private", shared_with: [agent.slug] })
  expect(await kindsFor()).toEqual(["withdrawn"])
  expect(await kindsFor(agent.key)).toEqual(["published", "withdrawn"])
  expect((await owner.call("DELETE", `/api/specs/${spec.id}`)).status).toBe(200)
  expect(await kindsFor(agent.key)).toEqual(["withdrawn"])
  expect(await kindsFor(owner.key)).toEqual(["published", "withdrawn"])
})

test("an operator's action is a change too; repeating it isn't", async () => {
  const after = await newest()
  const release = (ast: unknown, more: object = {}, name = "ours") =>
    publishStack(service, name, ast, { allowBreaking: true, ...more })
  await release(first)
  await release(first)
  await release(broken)
  await deprecate(service.database(), "ours", { message: "leave" }, new Date())
  await unpublish(service.database(), "ours", new Date())
  await release(grown)
  expect(await changesAfter(service, after)).toMatchObject([
    { kind: "published", version: 1, verdict: "none" },
    { kind: "published", version: 2, previous_version: 1, verdict: "breaking" },
    { kind: "deprecated", version: 2, message: "leave" },
    { kind: "withdrawn", version: 2 },
    { kind: "published", version: 3, previous_version: 2, verdict: "compatible" },
  ])
  const before = await newest()
  await release(broken, { visibility: "global" })
  expect(short(await changesAfter(service, before))).toEqual([["ours", "withdrawn", 4]])
  expect(short(await changesAfter(service, before, { key: owner.key }))).toEqual([["ours", "published", 4]])
  await expect(release(first, {}, "changes")).rejects.toMatchObject({ code: "invalid-name" })
  expect((await owner.call("POST", "/api/specs", { name: "changes" })).code).toBe("invalid-request")
})

test("a change is told once the registry serves it", async () => {
  await besides(service.databaseUrl, async (database) => {
    const [registry, feed] = [createRegistry(database), await createChangeFeed(database)]
    const told: string[] = []
    feed.follow({ reader: "public", tell: (_, { stack }) => void told.push(stack) })
    await publishStack(service, "served-soon", first)
    await registry.refresh()
    await publishStack(service, "served-later", first)
    await feed.poll(registry.revision())
    expect(told).toEqual(["served-soon"])
    await registry.refresh()
    await feed.poll(registry.revision())
    expect(told).toEqual(["served-soon", "served-later"])
  })
})

test("every kind in the list occurs", async () => {
  const told = await changesAfter(service, 0, { key: owner.key })
  expect(new Set(told.map(({ kind: what }) => what))).toEqual(new Set(changeKinds))
})

test("each page continues after the last one; an empty page says to repeat the request", async () => {
  const all = await changesAfter(service, 0)
  expect(await changesAfter(service, 0, { limit: 2 })).toEqual(all)
  const { body } = await service.call("GET", "/api/registry/changes?limit=3")
  expect(body).toEqual({ changes: all.slice(-3), next: all.at(-1)?.id })
  const end = (await service.call("GET", `/api/registry/changes?after=${body.next}`)).body
  expect(end).toEqual({ changes: [], next: body.next })
  expect((await service.call("GET", "/api/registry/changes?stack=never-was")).body).toEqual({ changes: [], next: 0 })
  for (const query of ["after=999999999999", "after=-1", "after=x", "limit=0", "limit=101", "stack=%00"]) {
    expect(await service.code("GET", `/api/registry/changes?${query}`)).toBe("invalid-request")
  }
  const etag = (await service.call("GET", "/api/registry/changes")).headers.get("etag") ?? ""
  const same = await service.call("GET", "/api/registry/changes", { headers: { "if-none-match": etag } })
  expect(same.status).toBe(304)
})

test("endlessly many changes that a reader can't see cost a page a part of them; next and a stream continue after it", async () => {
  const flooded = await serviceInTest("postgres")
  await publishStack(flooded, "open", first)
  await publishStack(flooded, "hidden", first, { visibility: "private" })
  const database = flooded.database()
  await database.query(
    `insert into registry_changes
     select c.id + n, at, stack, line, kind, version, previous_version, verdict, bump, message, successor, visibility, viewers,
       except_visibility, except_viewers
     from registry_changes c, generate_series(1, $1::int) n where stack = 'hidden'`,
    [mostLookedThrough],
  )
  const [{ id: end } = { id: 0 }] = await database.query<{ id: number }>(
    "update registry_state set revision = (select max(id) from registry_changes) returning revision::float8 as id",
    [],
  )
  const page = async (query: string) => (await flooded.call("GET", `/api/registry/changes?${query}`)).body
  expect(await page("")).toEqual({ changes: [], next: end - mostLookedThrough + 1 })
  const one = await page("after=0")
  expect(one).toMatchObject({ changes: [{ stack: "open" }], next: end - 2 })
  await publishStack(flooded, "later", first)
  expect(await page(`after=${one.next}`)).toMatchObject({ changes: [{ stack: "later" }] })
  const stream = await followChanges(flooded.url, { query: "?after=0" })
  expect((await stream.until(2)).map(({ stack }) => stack)).toEqual(["open", "later"])
})

test("an id is too old once later changes are deleted for their age, even if no other change follows", async () => {
  const quiet = await serviceInTest("postgres")
  for (const ast of [first, grown]) await publishStack(quiet, "quiet", ast)
  const [before, last] = await changesAfter(quiet, 0)
  await quiet.database().query("update registry_changes set at = now() - interval '2 days'", [])
  await besides(quiet.databaseUrl, (database) => forgetChanges(database, 1))
  expect(await quiet.code("GET", `/api/registry/changes?after=${before?.id}`)).toBe("invalid-request")
  expect(await changesAfter(quiet, last?.id ?? 0)).toEqual([])
  // Whoever knows all that is deleted misses nothing.
  await publishStack(quiet, "quiet", first, { allowBreaking: true })
  await besides(quiet.databaseUrl, (database) => forgetChanges(database, 1))
  expect((await changesAfter(quiet, last?.id ?? 0)).map(({ version }) => version)).toEqual([3])
})

test("an id that a restored backup doesn't have is never issued again; its reader gets an error that says to begin again", async () => {
  const restored = await serviceInTest("postgres")
  for (const ast of [first, grown]) await publishStack(restored, "kept", ast)
  const [kept, lost] = await changesAfter(restored, 0)
  await restored.database().query("delete from registry_changes where id = $1", [lost?.id])
  for (const table of ["stacks", "registry_state"])
    await restored.database().query(`update ${table} set revision = $1`, [kept?.id])
  await publishStack(restored, "later", first)
  expect(await restored.code("GET", `/api/registry/changes?after=${lost?.id}`)).toBe("invalid-request")
  expect((await changesAfter(restored, kept?.id ?? 0)).map(({ stack }) => stack)).toEqual(["later"])
})
