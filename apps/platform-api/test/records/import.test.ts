import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { failureOf } from "../../src/operator/failure.ts"
import { formatPath } from "../../src/registry/ast/document-fault.ts"
import { importRecords } from "../../src/records/import/import-records.ts"
import { command } from "../program.ts"
import { databaseKinds, testService, temporaryFolder } from "../service.ts"
import { countRows, importInto } from "./importing.ts"
import { manyBuilds, orderAst, sampleDocument } from "./sample-document.ts"

type Json = Record<string, unknown>

const smallerThanAnAst = { stack_name: "S" }

/** The document with the value at `path` put in place of what is there; undefined takes it out. */
const changed = (document: unknown, path: readonly (string | number)[], value: unknown): unknown => {
  const copy: unknown = structuredClone(document)
  let at = copy as Json
  for (const part of path.slice(0, -1)) at = at[part] as Json
  const last = path.at(-1) ?? ""
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

describe.each(databaseKinds)("importing records on %s", (kind) => {
  const service = testService(kind)
  let owner: string
  beforeAll(async () => {
    owner = (await service.signUp()).slug
  })

  const refusal = async (document: unknown) => {
    const before = await countRows(service)
    const error: unknown = await importInto(service, document).then(
      () => new Error("it was taken"),
      (reason: unknown) => reason,
    )
    expect(await countRows(service)).toEqual(before)
    return failureOf(error)
  }

  const env = { SVC_STREAM_URL: "wss://streams.example.com/live/" }
  const run = (...args: readonly string[]) => command(service, args, env)
  const { folder, remove } = temporaryFolder()
  afterAll(remove)
  const fileOf = (document: unknown): string => {
    const file = join(folder, "records.json")
    writeFileSync(file, JSON.stringify(document))
    return file
  }

  test("the command prints the id of every reference and leaves one row in the audit trail", async () => {
    const friend = await service.signUp()
    const file = fileOf(sampleDocument(owner, { shared_with: [friend.slug] }))
    const id = expect.any(Number)
    expect(await run("records", "import", file)).toEqual({
      specs: { spec: id },
      builds: { build: id },
      deployments: { deployment: id },
      runs: { first: id, second: id },
    })
    expect(await run("audit", "list", "--limit", "1")).toEqual([
      {
        id,
        at: expect.any(String),
        actor: "operator",
        action: "records.import",
        target: `agent:${owner}`,
        outcome: "success",
        address_prefix: null,
        request_id: null,
      },
    ])
    const missing = await run("records", "import", join(folder, "nowhere.json"))
    expect([missing, await run("records", "import")]).toMatchObject([{ code: "unreadable-file" }, { code: "usage" }])
  })

  test("a document with an owner alone is taken, and any text is a reference", async () => {
    expect(await importInto(service, { owner })).toEqual({ specs: {}, builds: {}, deployments: {}, runs: {} })
    const document = manyBuilds(owner, 1)
    const ref = "__proto__"
    const text = JSON.stringify({ ...document, builds: [{ ...document.builds[0], ref }] })
    const options = { at: new Date(), randomBytes, streamUrl: "ws://127.0.0.1:4004" }
    const ids = await importRecords(service.database(), text, options)
    expect(JSON.stringify(ids)).toMatch(/"builds":\{"__proto__":\d+\}/)
  })

  test("slugs, and stream URLs below SVC_STREAM_URL, are made where none is given, apart even for two specs of one name", async () => {
    const reader = await service.signUp()
    const spec = { name: "Ünïcode & Co.", entity_name: "Order", versions: [{ ast_payload: orderAst() }] }
    const events = [{ event_type: "created", new_status: "stopped", at: "2026-11-20T10:00:00Z" }]
    const document = {
      owner: reader.slug,
      specs: [
        { ...spec, ref: "a" },
        { ...spec, ref: "b" },
        { ...spec, ref: "c", name: "日本" },
      ],
      deployments: [
        { ref: "d", spec: "a", events },
        { ref: "e", spec: "b", branch: "feature/x y", events },
      ],
    }
    await run("records", "import", fileOf(document))
    const { body: specs } = await service.call("GET", "/api/specs", { key: reader.key })
    const slugs = specs.map((each: { url_slug: string }) => each.url_slug)
    expect(new Set(slugs).size).toBe(3)
    expect(slugs[0]).toMatch(/^spec-[0-9a-z]{6}$/)
    expect(slugs[1]).toMatch(/^u-ni-code-co-[0-9a-z]{6}$|^unicode-co-[0-9a-z]{6}$/)
    const { body: deployments } = await service.call("GET", "/api/deployments", { key: reader.key })
    expect(deployments.map((each: { websocket_url: string }) => each.websocket_url)).toEqual([
      `wss://streams.example.com/live/${slugs[1]}/feature%2Fx%20y`,
      `wss://streams.example.com/live/${slugs[2]}`,
    ])
    expect(deployments[0]).toMatchObject({ status: "stopped", current_build_id: null, first_deployed_at: null })
  })

  test("a fault anywhere refuses the whole document, names its place, and leaves nothing", async () => {
    const faults: readonly (readonly [(string | number)[], unknown, string?])[] = [
      [["owner"], "agt_0000000000"],
      [["owner"], "nobody@example.com"],
      [["owner"], undefined],
      [["shared_with"], ["agt_0000000000"], "shared_with[0]"],
      [["shared_with"], [owner], "shared_with[0]"],
      [["surprise"], 1],
      [["specs", 0, "surprise"], null],
      [["specs", 0, "name"], ""],
      [["specs", 0, "name"], "a\0b"],
      [["specs", 0, "name"], 7],
      [["specs", 0, "description"], "\ud800"],
      [["specs", 0, "entity_name"], "order"],
      [["specs", 0, "versions"], []],
      [["specs", 0, "versions", 1, "ast_payload"], undefined],
      [["specs", 0, "versions", 1, "ast_payload"], smallerThanAnAst, "specs[0].versions[1].ast_payload.entities"],
      [["specs", 0, "versions", 0, "surprise"], 1],
      [["specs", 0, "url_slug"], "Not a slug"],
      [["specs", 0, "websocket_url"], "https://streams.example"],
      [["specs", 0, "status"], "active"],
      [["builds", 0, "spec"], "nowhere"],
      [["builds", 0, "version"], 3],
      [["builds", 0, "version"], 0],
      [["builds", 0, "progress"], 101],
      [["builds", 0, "progress"], 0.5],
      [["builds", 0, "created_at"], "yesterday"],
      [["builds", 0, "created_at"], "2026-11-20T10:00:00"],
      [["builds", 0, "created_at"], "2026-02-30T10:00:00Z"],
      [["builds", 0, "created_at"], "0000-01-01T00:00:00Z"],
      [["builds", 0, "created_at"], "9999-12-31T23:59:59-01:00"],
      [["builds", 0, "events", 0, "at"], "2026-11-20T09:00:00Z"],
      [["builds", 0, "events", 1, "at"], "2026-11-20T10:00:00Z"],
      [["builds", 0, "events", 0, "new_status"], "queued"],
      [["builds", 0, "events", 0, "new_status"], "pending"],
      [["builds", 0, "events", 0, "new_status"], "active"],
      [["builds", 0, "events", 1, "new_status"], "uploading"],
      [["builds", 0, "events", 1, "previous_status"], "uploading"],
      [["builds", 0, "status"], "completed"],
      [["builds", 0, "websocket_url"], "ws://user@streams.example"],
      [["deployments", 0, "build"], "nowhere"],
      [["deployments", 0, "spec"], "nowhere"],
      [["deployments", 0, "events"], []],
      [["deployments", 0, "events", 0, "new_status"], undefined],
      [["deployments", 0, "events", 1, "new_status"], "updating"],
      [["deployments", 0, "events", 0, "actor"], "robot"],
      [["runs", 0, "spec"], "nowhere"],
      [["runs", 0, "deployment"], "nowhere"],
      [["runs", 0, "trigger"], "webhook"],
      [["runs", 0, "attempt"], 0],
      [["runs", 0, "retry_of"], "second"],
      [["runs", 0, "retry_of"], "first"],
      [["runs", 1, "retry_of"], "nowhere"],
      [["runs", 1, "attempt"], 3],
      [["runs", 0, "events", 1, "new_status"], "cancelled"],
      [["runs", 0, "events", 1, "new_status"], undefined],
      [["runs", 0, "events", 1, "event_type"], "status"],
      [["runs", 0, "steps", 0, "status"], "waiting"],
      [["runs", 0, "steps", 0, "completed_at"], "2026-11-20T12:00:00Z"],
    ]
    for (const [path, value, place] of faults) {
      const expected = place ?? formatPath(path)
      const { error, code, details } = await refusal(changed(sampleDocument(owner), path, value))
      expect({ value, code, details }).toEqual({
        value,
        code: "invalid-records",
        details: { path: expected, reason: expect.any(String) },
      })
      expect(error).toContain(expected)
    }
  })

  test("references stay inside the document, one kind and one spec", async () => {
    const twice = sampleDocument(owner)
    const other = { ...twice.specs[0], ref: "other" }
    const cases: readonly (readonly [object, string])[] = [
      [{ specs: [...twice.specs, ...twice.specs] }, "specs[1].ref"],
      [{ builds: [...twice.builds, ...twice.builds] }, "builds[1].ref"],
      [
        {
          specs: [...twice.specs, other],
          deployments: [{ ...twice.deployments[0], spec: "other" }],
        },
        "deployments[0].build",
      ],
      [{ specs: [...twice.specs, other], runs: [{ ...twice.runs[0], spec: "other" }] }, "runs[0].deployment"],
    ]
    for (const [rest, path] of cases) {
      expect(await refusal(sampleDocument(owner, rest))).toMatchObject({ code: "invalid-records", details: { path } })
    }
  })

  test("a text that JSON readers would change in silence is refused", async () => {
    const failure = (text: string) => {
      writeFileSync(join(folder, "text.json"), text)
      return run("records", "import", join(folder, "text.json"))
    }
    expect(await failure("{")).toMatchObject({ code: "invalid-records" })
    expect(await failure(`{"owner":"${owner}","owner":"${owner}"}`)).toMatchObject({ code: "invalid-records" })
    expect(await failure("[]")).toMatchObject({ code: "invalid-records" })
    const big = JSON.stringify(sampleDocument(owner)).replace('"ast_version":"0.0.1"', '"x":9007199254740993')
    expect(await failure(big)).toMatchObject({ details: { path: "specs[0].versions[0].ast_payload.x" } })
  })

  test("the number of records has no bearing on whether they are taken", async () => {
    const reader = await service.signUp()
    const ids = await importInto(service, manyBuilds(reader.slug, 2500))
    const numbers = Object.values(ids.builds)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    const { body } = await service.call("GET", "/api/builds?limit=1&offset=2499", { key: reader.key })
    expect(body[0].id).toBe(numbers[0])
  })
})
