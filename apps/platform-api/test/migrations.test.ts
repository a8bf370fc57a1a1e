// Replicas of two versions share a database while an operator replaces one by the other.
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { Queries } from "../src/db/database.ts"
import { migrate } from "../src/db/migrate.ts"
import { insertRecords } from "./records/records.ts"
import { besides, serviceInTest, temporaryFolder, type TestService } from "./service.ts"

const newerVersion = (statements: readonly string[]): string => {
  const { folder, remove } = temporaryFolder()
  onTestFinished(remove)
  cpSync(join(import.meta.dirname, "../migrations"), folder, { recursive: true })
  const file = join(folder, "meta/_journal.json")
  const journal = JSON.parse(readFileSync(file, "utf8")) as { entries: object[] }
  statements.forEach((statement, index) => {
    const tag = `added_${index}`
    writeFileSync(join(folder, `${tag}.sql`), statement)
    journal.entries.push({ idx: 100 + index, version: "7", when: Date.now() + index, tag, breakpoints: true })
  })
  writeFileSync(file, JSON.stringify(journal))
  return folder
}

test("this version keeps reading while a newer one migrates, and starts on the newer one's database", async () => {
  const service = await serviceInTest("postgres")
  const agent = await service.signUp()
  const { build, run } = await insertRecords(service, agent.slug)
  const newer = newerVersion([
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
  expect(await again.database().query("select count(*)::integer as n from notes where $1", [true])).toEqual([{ n: 0 }])
})
