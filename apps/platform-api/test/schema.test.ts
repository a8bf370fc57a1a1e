// The tables stand in TypeScript and in SQL: what one has and the other lacks is told here, by the tables' own tool.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api"
import { expect, test } from "vitest"
import * as records from "../src/db/records-schema.ts"
import * as own from "../src/db/schema.ts"

const meta = join(import.meta.dirname, "../migrations/meta")

test("every table and column of src/db has a migration in migrations/, and nothing there is theirs no more", async () => {
  const last =
    readdirSync(meta)
      .filter((file) => file.endsWith("_snapshot.json"))
      .toSorted()
      .at(-1) ?? ""
  const migrated = JSON.parse(readFileSync(join(meta, last), "utf8")) as ReturnType<typeof generateDrizzleJson>
  const now = generateDrizzleJson({ ...own, ...records })
  expect(
    await generateMigration(migrated, now),
    "write a migration: pnpm --filter @svc/platform-api exec drizzle-kit generate",
  ).toEqual([])
})
