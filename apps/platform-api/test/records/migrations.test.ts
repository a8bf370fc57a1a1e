import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createTestDatabase } from "@svc/testing"
import { afterAll, describe, expect, test } from "vitest"
import type { Database, Queries } from "../../src/db/database.ts"
import { openEmbeddedDatabase } from "../../src/db/embedded/embedded.ts"
import { migrate } from "../../src/db/migrate.ts"
import {
  beforeTests,
  besides,
  databaseKinds,
  serviceInTest,
  temporaryFolder,
  type TestService,
  testService,
} from "../service.ts"
import { insertRecords } from "./records.ts"

const migrationsFolder = fileURLToPath(new URL("../../migrations", import.meta.url))
type Journal = { entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[] }
const journal = JSON.parse(readFileSync(join(migrationsFolder, "meta/_journal.json"), "utf8")) as Journal

/** All earlier versions; on the slower embedded database, which runs the same statements, some of them. */
const versionsOn = (kind: string): number[] => {
  const all = journal.entries.map((_, index) => index).slice(1)
  return kind === "postgres" || process.env["SVC_FUZZ"] === "full" ? all : all.filter((count) => count % 5 === 1)
}
const stackVersionsCome = journal.entries.findIndex(({ tag }) => tag.endsWith("stacks_of_people"))

const { folder: workFolder, remove } = temporaryFolder()
afterAll(remove)

/** The migrations of another version: the first so many of ours, and what is added to them. */
const otherVersion = (name: string, count: number, added: readonly string[] = []): string => {
  const folder = join(workFolder, name)
  cpSync(migrationsFolder, folder, { recursive: true })
  const entries = journal.entries.slice(0, count)
  const last = entries.at(-1)?.when ?? 0
  added.forEach((statement, index) => {
    const tag = `added_${index}`
    writeFileSync(join(folder, `${tag}.sql`), statement)
    entries.push({ idx: count + index, version: "7", when: last + 1 + index, tag, breakpoints: true })
  })
  writeFileSync(join(folder, "meta/_journal.json"), JSON.stringify({ ...journal, entries }))
  return folder
}

/** Everything that makes up the tables, as text. */
const shapeOf = async (database: Database): Promise<readonly string[]> => {
  const rows = await database.within(30_000).query<{ part: string }>(
    `select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) as part
     from information_schema.columns where table_schema = $1
     union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
     from pg_constraint where connamespace = $1::regnamespace
     union all select indexdef from pg_indexes where schemaname = $1
     union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
     union all select pg_get_functiondef(oid) from pg_proc where pronamespace = $1::regnamespace
     order by 1`,
    ["public"],
  )
  return rows.map(({ part }) => part)
}

describe.each(databaseKinds)("migrations on %s", (kind) => {
  const embedded = beforeTests(
    () => openEmbeddedDatabase({ folder: join(workFolder, "data"), now: () => performance.now() }),
    ({ close }) => close(),
  )
  const onServer = async (work: (database: Database) => Promise<void>): Promise<void> => {
    const server = await createTestDatabase()
    await besides(server.url, work)
    await server.stop()
  }
  /** Works on an empty database. */
  const empty = async (work: (database: Database) => Promise<void>): Promise<void> => {
    if (kind === "postgres") return onServer(work)
    // A new one has its tables already.
    for (const step of ["drop schema public cascade", "create schema public"])
      await embedded.within(30_000).query(step, [])
    await work(embedded)
  }

  test("from every earlier version a database comes to the same tables, with its accounts and keys in place", async () => {
    let wanted: readonly string[] = []
    await empty(async (database) => {
      expect(await migrate(database.within(60_000))).toBe(journal.entries.length)
      wanted = await shapeOf(database)
    })
    for (const count of versionsOn(kind)) {
      await empty(async (database) => {
        const queries = database.within(60_000)
        expect(await migrate(queries, otherVersion(`${kind}-${count}`, count))).toBe(count)
        await queries.query("insert into users (kind, email, created_at) values ('human', 'a@example.com', now())", [])
        await queries.query(
          `insert into api_keys (user_id, key_hash, key_class, prefix, last_four, name, created_at)
           select id, sha256('k'), 'secret', 'svc_sk_', 'abcd', 'first', now() from users`,
          [],
        )
        await queries.query(
          `insert into stacks (name, websocket_url, visibility, relay, browser_send, version, content_hash, revision,
             created_at, updated_at, detail, schema, schema_gzip, ast_gzip)
           select 'old', 'wss://old.example', 'public', false, false, 3, repeat('a', 64), 1, now(), now(), '{"name":"old"}', '{}', 's', 'a'
           where $1`,
          [count < stackVersionsCome],
        )
        expect(await migrate(queries)).toBe(journal.entries.length - count)
        if (count < stackVersionsCome) {
          const versions = await queries.query("select line, number from stack_versions where $1", [true])
          expect(versions).toEqual([{ line: "name:old", number: 3 }])
        }
        expect(await migrate(queries)).toBe(0)
        expect(await shapeOf(database)).toEqual(wanted)
        const kept = await queries.query("select u.email, k.name from api_keys k join users u on u.id = k.user_id", [])
        expect(kept).toEqual([{ email: "a@example.com", name: "first" }])
      })
    }
  })
})

describe("two versions side by side", () => {
  const service = testService("postgres")

  test("this version goes on reading while a newer one migrates, and starts on the newer one's database", async () => {
    const agent = await service.signUp()
    const { build, run } = await insertRecords(service, agent.slug)
    const newer = otherVersion("newer", journal.entries.length, [
      "create table notes (id integer primary key, user_id integer not null references users(id), build_id integer references builds(id));",
      "create index notes_user on notes (user_id);",
      "create function notes_touch() returns trigger language plpgsql as 'begin return new; end';",
    ])
    const paths = [
      "/health",
      "/api/agents/me",
      "/api/agents/me/keys",
      "/api/registry",
      "/api/specs",
      `/api/builds/${build}`,
      "/api/deployments",
      `/api/automation/runs/${run}`,
    ]
    const statuses = (reader: TestService) =>
      Promise.all(paths.map(async (path) => (await reader.call("GET", path, { key: agent.key })).status))
    const allGood = paths.map(() => 200)
    expect(await statuses(service)).toEqual(allGood)
    // Its tables are changed and nothing is committed: as long as a migration takes at its worst.
    await besides(service.databaseUrl, async (other) => {
      const within = other.within(60_000)
      const transaction: Queries["transaction"] = (work) =>
        within.transaction(async (tx) => {
          await work(tx)
          return (await statuses(service)) as never
        })
      expect(await migrate({ transaction }, newer)).toEqual(allGood)
    })
    expect(await statuses(service)).toEqual(allGood)
    const again = await serviceInTest("postgres", { DATABASE_URL: service.databaseUrl })
    expect(await statuses(again)).toEqual(allGood)
    await insertRecords(again, agent.slug)
    expect(await again.database().query("select count(*)::integer as n from notes where $1", [true])).toEqual([
      { n: 0 },
    ])
  })
})
