import { sql } from "../../src/db/database.ts"
import { beforeAll, expect, test } from "vitest"
import { DatabaseUnavailable } from "../../src/db/errors.ts"
import { lifeCycles } from "../../src/records/transitions.ts"
import { testService } from "../service.ts"
import { insertRecords } from "./records.ts"

type Kind = keyof typeof lifeCycles

const startOf = (kind: Kind): string => lifeCycles[kind].start ?? ""
const nextOf = (kind: Kind, from: string): readonly string[] => {
  const { start, statuses, next } = lifeCycles[kind]
  return from === "" && start === undefined ? statuses : ((next as Record<string, readonly string[]>)[from] ?? [])
}
/** Statuses in a row that lead to one, itself included. */
const wayTo = (kind: Kind, to: string): readonly string[] => {
  const ways: (readonly string[])[] = [[]]
  for (const way of ways) {
    const last = way.at(-1) ?? startOf(kind)
    if (last === to) return way
    for (const next of nextOf(kind, last)) ways.push([...way, next])
  }
  throw new Error(`no ${kind} becomes ${to}`)
}

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 20) + seconds * 1000).toISOString()

const service = testService("postgres")
let base: Awaited<ReturnType<typeof insertRecords>>
let ownerId: number
beforeAll(async () => {
  const owner = await service.signUp()
  base = await insertRecords(service, owner.slug)
  const [row] = await query<{ user_id: number }>("select user_id from agent_profiles where slug = $1", [owner.slug])
  ownerId = row?.user_id ?? 0
})

const query = <Row>(text: string, values: readonly unknown[] = []) => service.database().query<Row>(text, values)

const newBuild = "insert into builds (owner_id, spec_id, spec_version_id, status, created_at)"
const newRun = "insert into runs (owner_id, spec_id, spec_version_id, workflow, status, trigger, attempt, created_at)"

const begin = async (kind: "build" | "run"): Promise<number> => {
  const insert = {
    build: `${newBuild} select $1, spec_id, id, 'pending', $3::timestamptz from spec_versions where spec_id = $2 limit 1 returning id`,
    run: `${newRun} select $1, spec_id, id, 'w', 'queued', 'manual', 1, $3::timestamptz from spec_versions where spec_id = $2 limit 1 returning id`,
  }[kind]
  const [row] = await query<{ id: number }>(insert, [ownerId, base.spec, at(0)])
  return row?.id ?? 0
}

const addEvent = (kind: "build" | "run", id: number, status: string, seconds: number) =>
  query(
    {
      build:
        "insert into build_events (build_id, event_type, new_status, created_at) values ($1, 'status', $2, $3::timestamptz)",
      run: "insert into run_events (run_id, new_status, created_at) values ($1, $2, $3::timestamptz)",
    }[kind],
    [id, status, at(seconds)],
  )

const refusalOf = async (work: Promise<unknown>): Promise<string | undefined> => {
  try {
    await work
    return undefined
  } catch (error) {
    // A refusal is the database's word on the statement, never an outage.
    expect(error).not.toBeInstanceOf(DatabaseUnavailable)
    return error instanceof Error && "code" in error ? String(error.code) : "?"
  }
}

test.each(["build", "run"] as const)("a %s changes status exactly as its table allows", async (kind) => {
  const { statuses } = lifeCycles[kind]
  const moved = async (steps: readonly string[]): Promise<number> => {
    const id = await begin(kind)
    for (const [index, status] of steps.entries()) await addEvent(kind, id, status, index + 1)
    return id
  }
  const expectMoved = async (id: number, steps: readonly string[]): Promise<void> => {
    const [row] = await query<{ record: Readonly<Record<string, unknown>> }>(
      `select to_jsonb(r) as record from ${kind}s r where id = $1`,
      [id],
    )
    const { record = {} } = row ?? {}
    const time = (given: unknown) => (typeof given === "string" ? new Date(given).toISOString() : given)
    const status = steps.at(-1) ?? startOf(kind)
    const isOver = nextOf(kind, status).length === 0
    expect([record["status"], time(record["started_at"]), time(record["completed_at"])]).toEqual([
      status,
      steps.length === 0 ? null : at(1),
      isOver ? at(steps.length) : null,
    ])
    const events = await query<{ previous_status: string; new_status: string }>(
      `select previous_status, new_status from ${kind}_events where ${kind}_id = $1 order by id`,
      [id],
    )
    // Each event's previous status is the one before it, whatever the statement said.
    const all = [startOf(kind), ...steps]
    expect(events).toEqual(steps.map((new_status, index) => ({ previous_status: all[index], new_status })))
  }
  for (const from of statuses) {
    const way = wayTo(kind, from)
    const id = await moved(way)
    for (const to of [...statuses, "unheard-of"].filter((one) => !nextOf(kind, from).includes(one)))
      expect([from, to, await refusalOf(addEvent(kind, id, to, 99))]).toEqual([from, to, "23514"])
    await expectMoved(id, way)
    for (const to of nextOf(kind, from)) await expectMoved(await moved([...way, to]), [...way, to])
  }
})

test("a deployment changes status exactly as its table allows, from its first event on", async () => {
  const all = [...lifeCycles.deployment.statuses, "unheard-of"]
  const pairs = all.flatMap((first) => all.map((second) => [first, second]))
  for (const steps of [[], ...all.map((one) => [one]), ...pairs, ["active", "stopped", "updating", "active"]]) {
    const isAllowed = steps.every((step, index) => nextOf("deployment", steps[index - 1] ?? "").includes(step))
    const refused = await refusalOf(
      service.database().transaction(async (tx) => {
        await tx.execute(sql`
          with spec as (
            insert into specs (owner_id, name, url_slug, latest_version, created_at, updated_at)
            values (${ownerId}, 's', 's', 0, now(), now()) returning id
          )
          insert into deployments (owner_id, spec_id, stack_name, websocket_url)
          select ${ownerId}, id, 'x', 'ws://x' from spec`)
        for (const [index, step] of steps.entries()) {
          await tx.execute(sql`insert into deployment_events (deployment_id, event_type, actor, new_status, created_at)
            values (currval('deployments_id_seq'), 'status', 'system', ${step}, ${at(index)}::timestamptz)`)
        }
      }),
    )
    // Without any event it would have no status.
    expect([steps, refused]).toEqual([steps, isAllowed && steps.length > 0 ? undefined : "23514"])
    if (refused !== undefined) continue
    const timeOf = (index: number) => (index < 0 ? null : at(index))
    const [row] = await query<{ status: string; first: boolean; last: boolean }>(
      `select status, first_deployed_at is not distinct from $1::timestamptz as first, last_deployed_at is not distinct from $2::timestamptz as last
       from deployments order by id desc limit 1`,
      [timeOf(steps.indexOf("active")), timeOf(steps.lastIndexOf("active"))],
    )
    expect(row).toEqual({ status: steps.at(-1), first: true, last: true })
  }
})

test("no statement moves a record beyond its events, and none starts half-way", async () => {
  const { build } = base
  const [before] = await query("select * from builds where id = $1", [build])
  const byHand = [
    "update builds set status = 'completed'",
    "update builds set phase = 'X'",
    "update builds set started_at = null",
    "update builds set completed_at = now()",
    "update builds set owner_id = owner_id",
    "update deployments set status = 'failed'",
    "update deployments set first_deployed_at = null",
    "update runs set status = 'succeeded'",
    "update runs set attempt = 9",
    "update specs set latest_version = 9",
    `${newBuild} select owner_id, spec_id, spec_version_id, 'queued', now() from builds`,
    "insert into builds (owner_id, spec_id, spec_version_id, status, created_at, started_at) select owner_id, spec_id, spec_version_id, 'pending', now(), now() from builds",
    `${newRun} select owner_id, spec_id, spec_version_id, 'w', 'running', 'manual', 1, now() from builds`,
    "insert into deployments (owner_id, spec_id, stack_name, websocket_url, status) select owner_id, id, 'x', 'ws://x', 'active' from specs",
    "insert into specs (owner_id, name, entity_name, url_slug, latest_version, created_at, updated_at) select owner_id, name, entity_name, url_slug, 1, now(), now() from specs",
    "update build_events set new_status = 'completed'",
    "delete from build_events",
    "truncate build_events",
    "update deployment_events set message = 'x'",
    "delete from deployment_events",
    "truncate deployment_events",
    "update run_events set created_at = now()",
    "delete from run_events",
    "truncate run_events",
    "update spec_versions set state_name = 'x'",
    "delete from spec_versions",
  ]
  for (const statement of byHand) {
    expect([statement, await refusalOf(query(statement))]).toEqual([statement, "23001"])
  }
  expect((await query("select * from builds where id = $1", [build]))[0]).toEqual(before)
})

test("no record refers to one of another owner or spec, or is shared with its owner", async () => {
  const other = await service.signUp()
  const foreign = await insertRecords(service, other.slug)
  const { spec, build, deployment, run } = base
  const [version] = await query<{ id: number }>("select id from spec_versions where spec_id = $1", [foreign.spec])
  const cases: readonly (readonly [string, readonly unknown[], string])[] = [
    [`${newBuild} values ($1, $2, $3, 'pending', now())`, [ownerId, foreign.spec, version?.id], "23503"],
    [`${newBuild} values ($1, $2, $3, 'pending', now())`, [ownerId, spec, version?.id], "23503"],
    [
      "insert into deployments (owner_id, spec_id, stack_name, websocket_url, current_build_id) values ($1, $2, 'x', 'ws://x', $3)",
      [ownerId, spec, foreign.build],
      "23514",
    ],
    [`${newRun} values ($1, $2, $3, 'w', 'queued', 'manual', 1, now())`, [ownerId, foreign.spec, version?.id], "23503"],
    [
      "insert into runs (owner_id, spec_id, spec_version_id, retry_of_id, workflow, status, trigger, attempt, created_at) select owner_id, spec_id, spec_version_id, id, 'w', 'queued', 'manual', 1, now() from runs where id = $1",
      [run],
      "23514",
    ],
    [
      "insert into spec_versions (spec_id, version_number, content_hash, state_name, handler_count, section_count, created_at, schema, ast_gzip) values ($1, 9, repeat('0', 64), 'x', 0, 0, now(), '', '')",
      [spec],
      "23514",
    ],
    ["insert into build_shares (user_id, record_id) values ($1, $2)", [ownerId, build], "23514"],
    ["insert into spec_shares (user_id, record_id) values ($1, $2)", [ownerId, spec], "23514"],
    ["insert into run_shares (user_id, record_id) values ($1, $2)", [ownerId, run], "23514"],
    ["insert into build_events (build_id, event_type, created_at) values ($1, 'x', now())", [2_147_483_647], "23503"],
    [
      "insert into deployment_events (deployment_id, event_type, actor, build_id, created_at) values ($1, 'x', 'user', $2, now())",
      [deployment, foreign.build],
      "23514",
    ],
  ]
  for (const [statement, values, code] of cases) {
    expect([statement, await refusalOf(query(statement, values))]).toEqual([statement, code])
  }
})
