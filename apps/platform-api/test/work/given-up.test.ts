import { expect, test } from "vitest"
import { sql } from "../../src/db/database.ts"
import { moveRun } from "../../src/work/events.ts"
import { claimJob, dropJob, holdJob, type Job, mostClaims } from "../../src/work/queue/jobs.ts"
import { beforeTests, serviceInTest, testService } from "../service.ts"
import { first, newPerson } from "./person.ts"

const limits = { SVC_WAITING_RUNS_PER_OWNER: "3" }
const service = testService("postgres", { ...limits, SVC_WORKER: "false" })
const person = beforeTests(() => newPerson(service))

/** Takes the next job in hand as a process does that then dies. */
const claimAndDie = async (): Promise<Job | undefined> => {
  const [job] = await service.database().run((db) => claimJob(db, "dead"))
  await service
    .database()
    .query("update jobs set lease_until = now() - interval '1 second' where lease_by = 'dead'", [])
  return job
}

test("a job that crashes its process three times fails with the reason; progress resets the count", async () => {
  const spec = await person.newSpec("poison")
  const run = await person.publish(spec.id, first)
  for (let claims = 1; claims < mostClaims; claims++) expect((await claimAndDie())?.claims).toBe(claims)
  const job = await claimAndDie()
  expect(job).toMatchObject({ kind: "run", id: run.id, claims: mostClaims })
  if (job === undefined) throw new Error("no job")
  // A step of it came to an end.
  await service.database().transaction((tx) => holdJob(tx, job, "dead"))
  for (let claims = 1; claims <= mostClaims; claims++) expect((await claimAndDie())?.claims).toBe(claims)

  await serviceInTest("postgres", { DATABASE_URL: service.databaseUrl, ...limits })
  const ended = await person.endOfRun(run.id)
  expect([ended.status, ended.error_code, ended.error_message]).toEqual([
    "failed",
    "given-up",
    "it crashed its process or ran out of time 3 times",
  ])
  // What waited behind it goes on.
  const next = await person.publish(spec.id, first)
  expect((await person.endOfRun(next.id)).status).toBe("succeeded")
})

test("a person's unfinished runs are limited, and one that is retried or resumed counts too", async () => {
  const spec = await person.newSpec("many")
  const approved = await person.publish(spec.id, first)
  await service.database().transaction(async (tx) => {
    for (const status of ["running", "waiting"] as const) await moveRun(tx, approved.id, status, new Date())
    await dropJob(tx, "run", approved.id)
  })
  const runs = []
  for (let n = 0; n < 3; n++) runs.push(await person.publish(spec.id, first))
  const body = { workflow: "publish", spec_id: spec.id, ast_payload: first }
  const refused = await person.call("POST", "/api/automation/runs", body)
  expect([refused.code, refused.body.error]).toEqual([
    "limit-reached",
    expect.stringContaining("SVC_WAITING_RUNS_PER_OWNER"),
  ])
  expect((await person.call("POST", `/api/automation/runs/${runs[0].id}/cancel`)).status).toBe(202)
  await person.publish(spec.id, first)
  expect(await person.code("POST", `/api/automation/runs/${runs[0].id}/retry`)).toBe("limit-reached")
  expect(await person.code("POST", `/api/automation/runs/${approved.id}/resume`)).toBe("limit-reached")
})

test("the next job is found by indexes, however many wait", async () => {
  await service.database().run(async (db) => {
    await db.execute(`insert into jobs (kind, record_id, owner_id, spec_id, next_at)
      select 'run', 1000000 + n, 1, n % 2, now() from generate_series(1, 5000) n`)
    await db.execute("analyze jobs")
  })
  const plan = await service.database().run((db) => db.execute(sql`explain ${claimJob(db, "x").getSQL()}`))
  await service.database().query("delete from jobs where record_id > 1000000", [])
  expect(JSON.stringify(plan)).toContain("jobs_of_spec")
})

test("a step whose commit got no response is repeated, and its build completes", async () => {
  const other = await serviceInTest("postgres")
  for (const statement of [
    "create sequence commits",
    `create function lose_first() returns trigger language plpgsql as $$ begin
      if nextval('commits') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
      return null;
    end $$`,
    `create constraint trigger lose_first after insert on build_events deferrable initially deferred
      for each row when (new.new_status = 'building') execute function lose_first()`,
  ])
    await other.database().query(statement, [])
  const builder = await newPerson(other)
  const spec = await builder.newSpec("lost", { ast_payload: first })
  const build = await builder.built({ spec_id: spec.id })
  expect([build.status, build.status_message]).toEqual(["completed", null])
  expect(await other.database().query("select last_value::integer as commits from commits", [])).toEqual([
    { commits: 2 },
  ])
})

test("a job whose hook was first called a month ago is claimed like any other", async () => {
  const insert = `insert into jobs (kind, record_id, owner_id, spec_id, next_at, first_attempt_at)
    values ('notice', 1000000, 1, 1, now() - interval '1 day', now() - interval '30 days')`
  await service.database().query(insert, [])
  const [job] = await service.database().run((db) => claimJob(db, "x"))
  await service.database().query("delete from jobs where record_id = 1000000", [])
  expect(job).toMatchObject({ kind: "notice", id: 1_000_000, age_ms: expect.closeTo(30 * 86_400_000, -6) })
})
