// The tables are defined in TypeScript and in SQL. drizzle-kit compares the two.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api"
import { expect, test } from "vitest"
import * as tables from "../src/db/schema/index.ts"

const meta = join(import.meta.dirname, "../migrations/meta")

test("migrations/ makes exactly the tables and columns of src/db/schema", async () => {
  const last =
    readdirSync(meta)
      .filter((file) => file.endsWith("_snapshot.json"))
      .toSorted()
      .at(-1) ?? ""
  const migrated = JSON.parse(readFileSync(join(meta, last), "utf8")) as ReturnType<typeof generateDrizzleJson>
  const now = generateDrizzleJson({ ...tables })
  expect(
    await generateMigration(migrated, now),
    "write a migration: pnpm --filter @svc/platform-api exec drizzle-kit generate",
  ).toEqual([])
})
