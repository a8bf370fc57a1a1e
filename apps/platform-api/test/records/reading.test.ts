import { beforeAll, expect, test } from "vitest"
import { beforeTests, onBothDatabases, testService } from "../service.ts"
import { newPerson } from "../work/person.ts"
import { insertBuilds, insertedAt, insertRecords } from "./records.ts"

const lists = ["/api/specs", "/api/builds", "/api/deployments", "/api/automation/runs"]
const missing = {
  "/api/specs/ID": "spec-not-found",
  "/api/specs/ID/schema": "spec-not-found",
  "/api/specs/ID/versions": "spec-not-found",
  "/api/builds/ID": "build-not-found",
  "/api/deployments/ID": "deployment-not-found",
  "/api/deployments/ID/events": "deployment-not-found",
  "/api/automation/runs/ID": "run-not-found",
}
const paged = [...lists, "/api/specs/ID/versions", "/api/deployments/ID/events"]

onBothDatabases("reading records", (kind) => {
  const service = testService(kind)
  const owner = beforeTests(() => service.signUp())
  const friend = beforeTests(() => service.signUp())
  const stranger = beforeTests(() => service.signUp())
  let ids: Awaited<ReturnType<typeof insertRecords>>
  let paths: Readonly<Record<string, string>>

  beforeAll(async () => {
    // So that ids of different kinds differ.
    await insertBuilds(service, stranger.slug, 5)
    ids = await insertRecords(service, owner.slug, [friend.slug])
    const idByList = {
      "/api/specs": ids.spec,
      "/api/builds": ids.build,
      "/api/deployments": ids.deployment,
      "/api/automation/runs": ids.run,
    }
    const withId = (path: string) =>
      Object.entries(idByList).reduce((found, [list, id]) => found.replace(`${list}/ID`, `${list}/${id}`), path)
    paths = Object.fromEntries([...lists, ...Object.keys(missing)].map((path) => [path, withId(path)]))
  })

  const read = (path: string, key = owner.key, headers: Record<string, string> = {}) =>
    service.call("GET", paths[path] ?? path, { key, headers })

  test("a spec, its versions and its schema have the stored fields and those derived from the AST", async () => {
    const spec = {
      id: ids.spec,
      name: "Orders of the day",
      entity_name: "Order",
      description: "Every order",
      url_slug: "orders",
      websocket_url: "wss://streams.example/orders",
      latest_version: 2,
      created_at: insertedAt.toISOString(),
      updated_at: insertedAt.toISOString(),
      visibility: "private",
      shared_with: [friend.slug],
    }
    expect((await read("/api/specs")).body).toEqual([spec])
    expect((await read("/api/specs/ID")).body).toEqual(spec)
    const { body: versions } = await read("/api/specs/ID/versions")
    const version = {
      id: expect.any(Number),
      spec_id: spec.id,
      version_number: 2,
      content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      state_name: "Order",
      program_id: "Prog1111",
      handler_count: 3,
      section_count: 2,
      message: null,
      created_at: insertedAt.toISOString(),
    }
    expect(versions).toEqual([version, { ...version, version_number: 1 }])
    expect(versions[0].content_hash).not.toBe(versions[1].content_hash)
    const { body: schema } = await read("/api/specs/ID/schema")
    expect(Object.keys(schema)).toEqual(["name", "description", "websocket_url", "schema"])
    expect(schema).toMatchObject({ name: spec.name, description: "Every order", websocket_url: spec.websocket_url })
    expect(Object.keys(schema.schema)).toEqual(["stack_name", "entities", "types"])
    expect(schema.schema.entities.map((entity: { name: string }) => entity.name)).toEqual(["Order", "Trader"])
  })

  test("a build's status, phase and times follow from its events, with millisecond precision", async () => {
    const { body: versions } = await read("/api/specs/ID/versions")
    const build = {
      id: ids.build,
      spec_id: ids.spec,
      spec_version_id: versions[0].id,
      status: "failed",
      phase: "SCANNED",
      progress: 40,
      status_message: "Compiling",
      websocket_url: "wss://streams.example/orders-2",
      created_at: "2026-11-20T10:00:00.999Z",
      started_at: "2026-11-20T10:00:01.000Z",
      completed_at: "2026-11-20T10:00:03.500Z",
    }
    expect((await read("/api/builds")).body).toEqual([build])
    const { body } = await read("/api/builds/ID")
    expect(body).toEqual({ ...build, events: expect.any(Array) })
    const { started_at, completed_at } = build
    expect(
      body.events.map((event: Record<string, unknown>) =>
        ["event_type", "phase", "previous_status", "new_status", "created_at"].map((name) => event[name]),
      ),
    ).toEqual([
      ["status", "UPLOAD", "pending", "uploading", started_at],
      ["log", "SCAN", null, null, "2026-11-20T10:00:02.000Z"],
      ["status", "SCANNED", "uploading", "failed", completed_at],
    ])
    const eventIds = body.events.map((each: { id: number }) => each.id)
    expect(eventIds).toEqual(eventIds.toSorted((a: number, b: number) => a - b))
  })

  test("a deployment starts as its first event says, and has its first and last active time", async () => {
    const deployment = {
      id: ids.deployment,
      spec_id: ids.spec,
      spec_name: "Orders of the day",
      status: "active",
      status_message: "Up again",
      websocket_url: "wss://streams.example/orders-2",
      current_build_id: ids.build,
      current_version: 2,
      first_deployed_at: "2026-11-20T10:00:15.000Z",
      last_deployed_at: "2026-11-20T10:00:18.000Z",
    }
    expect((await read("/api/deployments")).body).toEqual([deployment])
    expect((await read("/api/deployments/ID")).body).toEqual(deployment)
    const common = { id: expect.any(Number), deployment_id: deployment.id, build_id: deployment.current_build_id }
    const status = (previous_status: string | null, new_status: string | null, second: string, rest: object) => ({
      ...common,
      event_type: "status",
      previous_status,
      new_status,
      message: null,
      actor: "system",
      created_at: `2026-11-20T10:00:1${second}.000Z`,
      ...rest,
    })
    expect((await read("/api/deployments/ID/events")).body).toEqual([
      status("updating", "active", "8", { message: "Up again" }),
      status("active", "updating", "7", {}),
      status(null, null, "6", { event_type: "note", message: "Seen by nobody" }),
      status("updating", "active", "5", {}),
      status(null, "updating", "0", { event_type: "created", actor: "user", message: "Go" }),
    ])
  })

  test("a run lists its steps in order, and a retry counts one attempt more than the run before", async () => {
    const first = {
      id: ids.run,
      workflow: "nightly",
      status: "failed",
      trigger: "schedule",
      spec_id: ids.spec,
      deployment_id: ids.deployment,
      attempt: 3,
      retry_of_id: null,
      error_code: "no-space",
      error_message: "The disk\nis full",
      created_at: "2026-11-20T10:00:20.000Z",
      started_at: "2026-11-20T10:00:21.000Z",
      completed_at: "2026-11-20T10:00:22.000Z",
    }
    const { body: runs } = await read("/api/automation/runs")
    const [second] = runs
    expect(runs).toEqual([second, first])
    expect(second).toMatchObject({ attempt: 4, retry_of_id: first.id, status: "queued", trigger: "manual" })
    expect(second).toMatchObject({ deployment_id: null, error_code: null, started_at: null })
    const at = "2026-11-20T10:00:21.000Z"
    expect((await read("/api/automation/runs/ID")).body).toEqual({
      ...first,
      steps: [
        { name: "fetch", status: "succeeded", started_at: at, completed_at: at, error_message: null },
        { name: "write", status: "failed", started_at: null, completed_at: null, error_message: "No space" },
      ],
    })
    expect((await read(`/api/automation/runs/${second.id}`)).body).toEqual({ ...second, steps: [] })
  })

  test("shared records read the same to the other agent, except who else sees them, in one list with its own", async () => {
    const unshared = (body: unknown): unknown =>
      JSON.parse(JSON.stringify(body, (name, value: unknown) => (name === "shared_with" ? undefined : value)))
    for (const path of Object.keys(paths)) {
      const seen = (await read(path, friend.key)).body
      expect(seen).toEqual(unshared((await read(path)).body))
      expect(JSON.stringify(seen)).not.toContain("shared_with")
    }
    const both = await service.signUp()
    const own = await insertBuilds(service, both.slug, 2)
    const shared = await insertBuilds(service, stranger.slug, 2, [both.slug])
    const last = await insertBuilds(service, both.slug, 1)
    const newestFirst = [own, shared, last].flatMap(({ builds }) => builds).toReversed()
    const { body } = await read("/api/builds", both.key)
    expect(body.map((build: { id: number }) => build.id)).toEqual(newestFirst)
  })

  test("an id of any size that has no record is missing, and what is none is refused by its place", async () => {
    for (const [path, code] of Object.entries(missing)) {
      for (const id of ["999999", "2147483648", "9".repeat(40), "0"])
        expect((await read(path.replace("ID", id))).code).toBe(code)
      for (const id of ["x", "-1", "1.0", "0x1", "%20", "١"]) {
        const malformed = await read(path.replace("ID", id))
        expect([malformed.code, malformed.body.details.path]).toEqual(["invalid-request", "id"])
      }
    }
  })

  test("every 200 has a strong ETag, which makes a later request 304", async () => {
    const tags = new Set<string>()
    for (const path of Object.keys(paths)) {
      const full = await read(path)
      const etag = full.headers.get("etag") ?? ""
      expect(full.status).toBe(200)
      expect(etag).toMatch(/^"[^"]+"$/)
      expect(full.headers.get("cache-control")).toBe("private, no-cache")
      expect(full.headers.get("content-type")).toBe("application/json")
      for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const spared = await read(path, owner.key, { "if-none-match": condition })
        expect([spared.status, spared.body, spared.headers.get("etag")]).toEqual([304, "", etag])
        expect(spared.headers.get("cache-control")).toBe("private, no-cache")
      }
      expect((await read(path, owner.key, { "if-none-match": '"other"' })).status).toBe(200)
      tags.add(etag)
    }
    expect(tags.size).toBe(Object.keys(paths).length)
  })

  test("following Link: rel=next visits every record once, newest first", async () => {
    const walker = await service.signUp()
    await insertBuilds(service, walker.slug, 7)
    const [all] = await service.pages("/api/builds?limit=100", walker)
    const walked = await service.pages("/api/builds?limit=3", walker)
    expect([walked.length, walked.flatMap(({ body }) => body)]).toEqual([3, all?.body])
    const order = all?.body.map((build: { id: number }) => build.id)
    expect(order).toEqual(order.toSorted((a: number, b: number) => b - a))
    const { body: events, headers } = await read(`${paths["/api/deployments/ID/events"]}?limit=2&offset=2`)
    expect(events).toEqual((await read("/api/deployments/ID/events")).body.slice(2, 4))
    expect(headers.get("link")).toBe(`<${paths["/api/deployments/ID/events"]}?limit=2&offset=4>; rel="next"`)
    const { body: versions } = await read(`${paths["/api/specs/ID/versions"]}?limit=1&offset=1`)
    expect(versions.map((version: { version_number: number }) => version.version_number)).toEqual([1])
    for (const path of paged) {
      const beyond = await read(`${paths[path] ?? path}?offset=1000000`)
      expect([beyond.status, beyond.body, beyond.headers.get("link")]).toEqual([200, [], null])
    }
  })

  test("a person's key reads the person's own records and those shared with them", async () => {
    const { key, email } = await newPerson(service)
    await insertBuilds(service, email, 1)
    await insertRecords(service, owner.slug, [email])
    expect((await read("/api/builds", key)).body).toHaveLength(2)
    expect((await read("/api/builds/ID", key)).status).toBe(404)
  })
})
