// The tables stand in TypeScript and in SQL: what one has and the other lacks is told here, by the tables' own tool.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api"
import { expect, test } from "vitest"

const folder = join(import.meta.dirname, "../src/db")

const meta = join(import.meta.dirname, "../migrations/meta")

test("every table and column of src/db has a migration in migrations/, and nothing there is theirs no more", async () => {
  const last =
    readdirSync(meta)
      .filter((file) => file.endsWith("_snapshot.json"))
      .toSorted()
      .at(-1) ?? ""
  const migrated = JSON.parse(readFileSync(join(meta, last), "utf8")) as ReturnType<typeof generateDrizzleJson>
  const files = readdirSync(folder).filter((file) => file.endsWith("schema.ts"))
  const modules = await Promise.all(files.map(async (file) => (await import(join(folder, file))) as object))
  const now = generateDrizzleJson(Object.assign({}, ...modules) as Record<string, unknown>)
  expect(
    await generateMigration(migrated, now),
    "write a migration: pnpm --filter @svc/platform-api exec drizzle-kit generate",
  ).toEqual([])
})
