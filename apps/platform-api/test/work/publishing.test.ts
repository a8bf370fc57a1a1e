import { gzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { beforeTests, onBothDatabases, testService } from "../service.ts"
import { broken, first, grown, newPerson } from "./person.ts"

onBothDatabases("publishing stacks", (kind) => {
  const service = testService(kind, {
    SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
    SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE: "0",
    SVC_STREAM_URL_TEMPLATE: "wss://{slug}.streams.example",
  })
  const owner = beforeTests(() => newPerson(service))

  const served = async (name: string, key?: string) =>
    (await service.call("GET", `/api/registry/${name}`, { key })).body
  const shows = (name: string, version: number | undefined, key?: string) =>
    expect.poll(async () => (await served(name, key)).version).toBe(version)

  test("a run takes an AST from a version to its readers, step by step", async () => {
    const spec = await owner.newSpec("orders")
    expect([spec.latest_version, spec.entity_name, spec.visibility, spec.shared_with]).toEqual([0, null, "public", []])
    const run = await owner.published(spec.id, first)
    expect(run.steps.map(({ name, status }: Record<string, unknown>) => [name, status])).toEqual([
      ["version", "succeeded"],
      ["check", "succeeded"],
      ["approve", "skipped"],
      ["build", "succeeded"],
      ["deploy", "succeeded"],
      ["verify", "succeeded"],
    ])
    await shows("orders", 1)
    const [build] = await owner.get("/api/builds")
    expect(build).toMatchObject({ status: "completed", progress: 100, websocket_url: "wss://people.example/orders" })
    const { events } = await owner.get(`/api/builds/${build.id}`)
    expect(events.map((event: Record<string, unknown>) => event["new_status"])).toEqual([
      "uploading",
      "queued",
      "building",
      "pushing",
      "deploying",
      "completed",
    ])
    const deployment = await owner.get(`/api/deployments/${run.deployment_id}`)
    expect(deployment).toMatchObject({ status: "active", current_version: 1, spec_name: "orders" })
  })

  test("a member that is null counts as missing, which is an error where an AST is required", async () => {
    const empty = { ast_payload: null, entity_name: null, visibility: null, shared_with: null }
    const spec = await owner.newSpec("nulls", { ...empty, description: null })
    expect(spec).toMatchObject({ latest_version: 0, visibility: "private", shared_with: [], description: null })
    for (const body of [{}, { ast_payload: null }]) {
      const { status, body: error } = await owner.call("POST", "/api/registry/nulls/check", body)
      expect([status, error.details]).toMatchObject([400, { path: "ast_payload", reason: "is missing" }])
    }
    const changed = await owner.call("PUT", `/api/specs/${spec.id}`, { name: null, description: "x", visibility: null })
    expect(changed.body).toMatchObject({ name: "nulls", description: "x", visibility: "private" })
    // What others would read doesn't hold a key.
    const leaked = await owner.call("PUT", `/api/specs/${spec.id}`, { description: `Call me with ${owner.key}` })
    expect(leaked).toMatchObject({ status: 400, body: { details: { path: "description" } } })
    expect(JSON.stringify(leaked.body)).not.toContain(owner.key)
  })

  test("no other stack can have the URL that the operator's template makes for a name, in any spelling", async () => {
    for (const websocket_url of ["wss://unborn.streams.example", "wss://ORDERS.streams.example:443/"]) {
      const spec = await owner.newSpec(`squatter-${websocket_url.length}`, { ast_payload: first, websocket_url })
      const run = { workflow: "publish", spec_id: spec.id }
      const { body } = await owner.call("POST", "/api/automation/runs", run)
      expect(body).toMatchObject({ code: "websocket-url-taken", error: expect.stringContaining("another name") })
      expect(await owner.code("POST", "/api/builds", { spec_id: spec.id })).toBe("websocket-url-taken")
    }
    const own = await owner.newSpec("owned", { websocket_url: "wss://owned.streams.example" })
    expect((await owner.published(own.id, first)).status).toBe("succeeded")
  })

  test("a breaking change waits for approval, and a rollback restores the old version", async () => {
    const spec = await owner.newSpec("waiting", { ast_payload: first })
    expect(spec).toMatchObject({ latest_version: 1, entity_name: "Thing" })
    const { deployment_id } = await owner.published(spec.id, undefined)
    const { id } = await owner.publish(spec.id, broken)
    const run = await owner.until(`/api/automation/runs/${id}`, "waiting")
    expect(run.steps[2].error_message).toContain("field Thing.id.address removed")
    await shows("waiting", 1)
    expect(await owner.code("POST", `/api/automation/runs/${id}/retry`)).toBe("run-state")
    expect((await owner.call("POST", `/api/automation/runs/${id}/resume`)).status).toBe(202)
    const ended = await owner.endOfRun(id)
    expect(ended.status).toBe("succeeded")
    // So the console finds a run's build.
    const [build] = await owner.get("/api/builds?limit=1")
    expect(Date.parse(build.created_at)).toBeGreaterThanOrEqual(Date.parse(ended.steps[3].started_at))
    await shows("waiting", 2)
    const back = await owner.call("POST", `/api/deployments/${deployment_id}/rollback`)
    expect([back.status, back.headers.get("location")]).toEqual([202, `/api/builds/${back.body.build_id}`])
    expect((await owner.endOfBuild(back.body.build_id)).status).toBe("completed")
    await shows("waiting", 1)
    expect(await owner.code("POST", `/api/deployments/${deployment_id}/rollback`, { to_version: 9 })).toBe(
      "version-not-found",
    )
  })

  test("what was approved is what is built: a break that came since is asked for again", async () => {
    const spec = await owner.newSpec("lasting", { ast_payload: first })
    const resume = async (id: number) =>
      expect((await owner.call("POST", `/api/automation/runs/${id}/resume`)).status).toBe(202)
    await owner.published(spec.id, undefined)
    const { id } = await owner.publish(spec.id, undefined, { approval: true })
    const path = `/api/automation/runs/${id}`
    await owner.until(path, "waiting")
    await owner.published(spec.id, grown)
    await resume(id)
    await expect
      .poll(async () => (await owner.get(path)).steps[2].error_message)
      .toBe("breaking-change: field Thing.id.size removed")
    await owner.until(path, "waiting")
    await shows("lasting", 2)
    await resume(id)
    expect((await owner.endOfRun(id)).status).toBe("succeeded")
    await shows("lasting", 1)
  })

  test("a failed build reports why, and the registry stays unchanged", async () => {
    const spec = await owner.newSpec("failing", { ast_payload: first })
    const build = (more: object) => owner.built({ spec_id: spec.id, ...more })
    expect((await build({})).status).toBe("completed")
    await owner.call("POST", `/api/specs/${spec.id}/versions`, { ast_payload: broken, message: "smaller" })
    const failed = await build({})
    expect([failed.status, failed.status_message]).toEqual([
      "failed",
      expect.stringMatching(/^breaking-change: field Thing\.id\.address removed/),
    ])
    expect((await served("failing")).version).toBe(1)
    expect((await build({ allow_breaking: true })).status).toBe("completed")
    await shows("failing", 2)
    expect((await service.call("GET", "/api/registry/failing/versions")).body[0]).toMatchObject({ message: "smaller" })
  })

  test("unknown ids of any size aren't found, and anything but a number gets an error that says so", async () => {
    const spec = await owner.newSpec("numbered", { ast_payload: first })
    const build = async (body: object) => await owner.code("POST", "/api/builds", body)
    for (const spec_id of [0, 2_147_483_647, 2_147_483_648, Number.MAX_SAFE_INTEGER]) {
      expect(await build({ spec_id })).toBe("spec-not-found")
      expect(await build({ spec_id: spec.id, spec_version_id: spec_id })).toBe("version-not-found")
    }
    for (const spec_id of [-1, 1.5, "1", 1e300]) expect(await build({ spec_id })).toBe("invalid-request")
  })

  test("a private stack without a URL uses the operator's, and only its owner sees it", async () => {
    const spec = await owner.newSpec("hidden", { ast_payload: first, websocket_url: null, visibility: "private" })
    const build = await owner.built({ spec_id: spec.id })
    expect([build.status, build.websocket_url]).toEqual(["completed", "wss://hidden.streams.example"])
    await shows("hidden", 1, owner.key)
    expect(await service.code("GET", "/api/registry/hidden")).toBe("stack-not-found")
    const listed = (await service.call("GET", "/api/registry?q=hidden", { key: owner.key })).body
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(["hidden"])
    const session = { websocket_url: build.websocket_url }
    expect((await owner.call("POST", "/ws/sessions", session)).status).toBe(200)
    expect(await owner.code("POST", "/ws/sessions", { ...session, scope: "transaction:inspect" })).toBe(
      "scope-not-allowed",
    )
    const agent = await service.signUp()
    expect(await service.code("POST", "/ws/sessions", { key: agent.key, body: session })).toBe(
      "agent-account-forbidden",
    )
  })

  test("an agent sees a shared stack at once and in full, until sharing ends", async () => {
    const agent = await service.signUp()
    const spec = await owner.newSpec("secretive", { ast_payload: first, visibility: "private" })
    const run = await owner.published(spec.id, undefined)
    await shows("secretive", 1, owner.key)
    const paths = [
      "/api/registry/secretive/versions",
      `/api/specs/${spec.id}`,
      `/api/automation/runs/${run.id}`,
      `/api/deployments/${run.deployment_id}`,
    ]
    const seen = () =>
      Promise.all(paths.map(async (path) => (await service.call("GET", path, { key: agent.key })).status))
    expect(await seen()).toEqual([404, 404, 404, 404])
    const shared = await owner.call("PUT", `/api/specs/${spec.id}`, { shared_with: [agent.slug] })
    expect([shared.status, shared.body.shared_with]).toEqual([200, [agent.slug]])
    await expect.poll(seen).toEqual([200, 200, 200, 200])
    // With a long history, whoever can read it already isn't told of it again.
    const rows = () => service.database().query("select xmin::text, * from run_shares where record_id = $1", [run.id])
    const before = await rows()
    const other = await service.signUp()
    await owner.call("PUT", `/api/specs/${spec.id}`, { shared_with: [agent.slug, other.slug] })
    expect(await rows()).toHaveLength(2)
    await owner.call("PUT", `/api/specs/${spec.id}`, { shared_with: [agent.slug] })
    expect(await rows()).toEqual(before)
    await owner.call("PUT", `/api/specs/${spec.id}`, { shared_with: null })
    await expect.poll(seen).toEqual([404, 404, 404, 404])
    // However many agents there are, each statement is about one.
    await owner.call("PUT", `/api/specs/${spec.id}`, { shared_with: [agent.slug, other.slug] })
    const statement = "select distinct cmin::text from run_shares where record_id = $1"
    expect(await service.database().query(statement, [run.id])).toHaveLength(2)
    // Nor are past changes of a stack written again, however many there are, published or withdrawn.
    const past = () =>
      service.database().query("select xmin::text, * from registry_changes where stack = $1 order by id", ["secretive"])
    const told = await past()
    await owner.call("PUT", `/api/specs/${spec.id}`, { shared_with: [other.slug] })
    await owner.turn(run.deployment_id, "stop")
    await owner.call("PUT", `/api/specs/${spec.id}`, { shared_with: [agent.slug] })
    expect((await past()).slice(0, told.length)).toEqual(told)
    expect(await owner.code("PUT", `/api/specs/${spec.id}`, { shared_with: ["agt_nobody0000"] })).toBe(
      "invalid-request",
    )
  })

  test("a change of who sees a stack applies at once, in every response", async () => {
    const spec = await owner.newSpec("turning", { ast_payload: first, visibility: "private" })
    for (const ast of [undefined, grown]) await owner.published(spec.id, ast)
    await shows("turning", 2, owner.key)
    const told = async () => {
      const paths = ["turning", "stacks/turning/ast", "stacks/turning/ast?version=1"].map(
        (path) => `/api/registry/${path}`,
      )
      return Promise.all(paths.map(async (path) => (await service.call("GET", path)).body.visibility))
    }
    expect(await told()).toEqual([undefined, undefined, undefined])
    const before = await service.call("GET", "/api/registry/stacks/turning/ast", { key: owner.key })
    expect(before.body.visibility).toBe("private")
    expect((await owner.call("PUT", `/api/specs/${spec.id}`, { visibility: "public" })).status).toBe(200)
    await expect.poll(told).toEqual(["public", "public", "public"])
    const after = await service.call("GET", "/api/registry/stacks/turning/ast")
    expect(after.body).toEqual({ ...before.body, visibility: "public" })
    expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"))
    await owner.call("PUT", `/api/specs/${spec.id}`, { visibility: "private" })
    await expect.poll(told).toEqual([undefined, undefined, undefined])
  })

  test("a deployment can be stopped, restarted and deleted; its name stays reserved for a while", async () => {
    const spec = await owner.newSpec("resting", { ast_payload: first })
    const { deployment_id } = await owner.published(spec.id, undefined)
    const path = `/api/deployments/${deployment_id}`
    await shows("resting", 1)
    expect(await owner.code("DELETE", path)).toBe("deployment-active")
    expect(await owner.code("DELETE", `/api/specs/${spec.id}`)).toBe("spec-deployed")
    expect(await owner.code("POST", `${path}/restart`)).toBe("deployment-state")
    expect((await owner.call("POST", `${path}/stop`, { reason: "for now" })).status).toBe(202)
    await owner.until(path, "stopped")
    await shows("resting", undefined)
    const checked = await owner.call("POST", "/api/registry/resting/check", { ast_payload: broken })
    expect(checked.body, "compared with what a run compares it with").toMatchObject({ version: 1, verdict: "breaking" })
    const stranger = await newPerson(service)
    const other = await stranger.newSpec("resting", { ast_payload: first, websocket_url: "wss://stranger.example" })
    expect(await stranger.code("POST", "/api/builds", { spec_id: other.id })).toBe("stack-name-taken")
    await owner.turn(deployment_id, "restart")
    await shows("resting", 1)
    await owner.turn(deployment_id, "stop")
    expect((await owner.call("DELETE", path)).body).toEqual({
      message: "It is deleted.",
      deployment_id,
      status: "stopped",
      id: deployment_id,
      deleted: true,
    })
    expect(await owner.code("GET", path)).toBe("deployment-not-found")
    expect(await stranger.code("POST", "/api/builds", { spec_id: other.id })).toBe("stack-name-taken")
    expect((await owner.call("DELETE", `/api/specs/${spec.id}`)).body).toEqual({ id: spec.id, deleted: true })
    expect(await owner.code("GET", `/api/specs/${spec.id}`)).toBe("spec-not-found")
    expect((await owner.get("/api/specs")).some((row: { id: number }) => row.id === spec.id)).toBe(false)
    service.clock.offsetMs += 31 * 24 * 3600 * 1000
    expect((await stranger.built({ spec_id: other.id })).status).toBe("completed")
    // A former owner's versions are never those of the next one.
    await shows("resting", 1)
    expect((await service.call("GET", "/api/registry/resting/versions")).body).toHaveLength(1)
  })

  test("the same Idempotency-Key and body get the same response, even at once; another body is rejected", async () => {
    const body = { name: "once", ast_payload: first }
    const key = { "idempotency-key": "k 1" }
    const answers = await Promise.all([1, 2, 3, 4].map(() => owner.call("POST", "/api/specs", body, key)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    const told = (name: string) => answers.map(({ headers }) => headers.get(name))
    expect(told("idempotency-replayed").filter((replayed) => replayed === "true")).toHaveLength(3)
    expect(told("location")).toEqual(Array(4).fill(`/api/specs/${answers[0]?.body.id}`))
    expect(await owner.code("POST", "/api/specs", { ...body, name: "twice" }, key)).toBe("idempotency-key-reused")
    expect(await owner.code("POST", "/api/specs", body, { "idempotency-key": "k".repeat(65) })).toBe("invalid-request")
    expect(await owner.code("POST", "/api/specs", body)).toBe("spec-name-taken")
  })

  test("with If-Match a spec is changed only if it is still as it was read", async () => {
    const spec = await owner.newSpec("matched")
    const path = `/api/specs/${spec.id}`
    const tag = async () => (await owner.call("GET", path)).headers.get("etag") ?? ""
    const old = { "if-match": await tag() }
    expect((await owner.call("PUT", path, { description: "one" }, old)).status).toBe(200)
    const etag = await tag()
    // A weak tag never matches here, whatever it names.
    for (const header of [old, { "if-match": `W/${etag}` }, { "if-none-match": etag }, { "if-none-match": "*" }]) {
      expect(await owner.code("PUT", path, { description: "two" }, header)).toBe("precondition-failed")
      expect(await owner.code("DELETE", path, undefined, header)).toBe("precondition-failed")
    }
    expect((await owner.get(path)).description).toBe("one")
    expect((await owner.call("PUT", path, {}, { "if-match": `"a", ${etag}` })).status).toBe(200)
    expect((await owner.call("DELETE", path, undefined, { "if-match": "*" })).status).toBe(200)
  })

  test("a changed deprecation message keeps its start time", async () => {
    const spec = await owner.newSpec("ageing")
    const tell = async (message: string) => {
      const { body } = await owner.call("PUT", `/api/specs/${spec.id}`, {
        deprecated: { message, successor: "orders" },
      })
      return body.deprecated
    }
    const begun = await tell("Leave")
    expect(begun).toEqual({ message: "Leave", successor: "orders", since: expect.any(String) })
    service.clock.offsetMs += 5000
    expect(await tell("Leave now")).toEqual({ ...begun, message: "Leave now" })
  })

  test("versions list their changes; unchanged content isn't new; bodies may be gzip; faults have paths", async () => {
    const spec = await owner.newSpec("counted", { ast_payload: first })
    const path = `/api/specs/${spec.id}/versions`
    expect((await owner.call("POST", path, { ast_payload: first, message: "never kept" })).body).toEqual({
      version: 1,
      version_is_new: false,
      content_is_new: false,
      diff: { from: 1, to: 1, verdict: "none", bump: "none", changes: [] },
      message: null,
    })
    const raw = gzipSync(JSON.stringify({ ast_payload: grown, message: "more" }))
    const headers = { "content-type": "application/json", "content-encoding": "gzip" }
    const { status, body } = await service.call("POST", path, { key: owner.key, raw, headers })
    expect([status, body]).toMatchObject([
      201,
      { version: 2, version_is_new: true, message: "more", diff: { from: 1, to: 2, bump: "minor" } },
    ])
    const again = await owner.call("POST", path, { ast_payload: first })
    expect(again.body).toMatchObject({
      version: 3,
      version_is_new: true,
      content_is_new: false,
      diff: { verdict: "breaking" },
    })
    expect(await owner.get(`/api/specs/${spec.id}/diff?from=1&to=2`)).toMatchObject({
      verdict: "compatible",
    })
    expect(await owner.code("GET", `/api/specs/${spec.id}/diff?from=1&to=8`)).toBe("version-not-found")
    const wrong = await owner.call("POST", path, { ast_payload: { stack_name: "", entities: [{}] } })
    expect(wrong.body.details.faults.map((fault: Record<string, unknown>) => fault["path"])).toContain(
      "ast_payload.entities[0].state_name",
    )
    const large = gzipSync(JSON.stringify({ ast_payload: { filling: "x".repeat(3 << 20) } }))
    expect(await service.code("POST", path, { key: owner.key, raw: large, headers })).toBe("payload-too-large")
    const foreign = await newPerson(service)
    expect(await foreign.code("POST", path, { ast_payload: first })).toBe("spec-not-found")
  })

  test("a waiting run is cancelled at once and can be retried once, reusing finished steps", async () => {
    const spec = await owner.newSpec("retried", { ast_payload: first })
    const { id } = await owner.publish(spec.id, undefined, { approval: true })
    await owner.until(`/api/automation/runs/${id}`, "waiting")
    expect((await owner.call("POST", `/api/automation/runs/${id}/cancel`)).body.status).toBe("cancelled")
    const { steps } = await owner.get(`/api/automation/runs/${id}`)
    expect(steps[2]).toMatchObject({ name: "approve", status: "skipped", error_message: null })
    const retry = await owner.call("POST", `/api/automation/runs/${id}/retry`)
    expect(retry.body).toMatchObject({ attempt: 2, retry_of_id: id })
    expect(await owner.code("POST", `/api/automation/runs/${id}/retry`)).toBe("run-state")
    const again = await owner.until(`/api/automation/runs/${retry.body.id}`, "waiting")
    expect(again.steps[0].status).toBe("succeeded")
    await owner.call("POST", `/api/automation/runs/${again.id}/resume`)
    await owner.until(`/api/automation/runs/${again.id}`, "succeeded")
  })
})
