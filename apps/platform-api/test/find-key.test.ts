import { mintKey } from "@svc/keys"
import { createTestDatabase, type TestDatabase } from "@svc/testing"
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { insertKey, readKeySecret } from "../src/auth/accounts.ts"
import { createKeyFinder, type FindKey, sentKey } from "../src/auth/find-key.ts"
import type { Database } from "../src/db/database.ts"
import { migrate } from "../src/db/migrate.ts"
import { users } from "../src/db/schema/index.ts"
import { openServerDatabase } from "../src/db/server/server.ts"

let server: TestDatabase
let database: Database
let find: FindKey
let secret: Uint8Array
let asked = 0
beforeAll(async () => {
  server = await createTestDatabase()
  database = openServerDatabase({ url: server.url, statementMs: 0, connections: 1, now: () => performance.now() })
  await migrate(database.within(60_000))
  secret = await database.within(5000).run(readKeySecret)
  const counted: Database = { ...database, within: (ms) => (asked++, database.within(ms)) }
  find = createKeyFinder(counted, 1800, secret)
})
afterAll(async () => {
  await database.close()
  await server.stop()
})

const stored = () =>
  database.within(5000).transaction(async (tx) => {
    const [user] = await tx.insert(users).values({ kind: "agent", createdAt: new Date() }).returning()
    const key = { kind: "ak", userId: user?.id ?? 0, name: "k", createdAt: new Date() } as const
    return sentKey((await insertKey(tx, key, randomBytes)).text)
  })

test("from a suspect come to the database only keys with the service's own tag, and keys that were found before", async () => {
  const [own, unknown] = [await stored(), sentKey(mintKey("ak", randomBytes, secret))]
  const forged = sentKey(mintKey("ak", randomBytes, randomBytes(32)))
  expect(await find(forged, true)).toBeUndefined()
  expect(asked).toBe(0)
  expect(await find(own, true)).toMatchObject({ kind: "agent", profile: null, keyClass: "secret" })
  expect(await find(unknown, true)).toBeUndefined()
  expect(asked).toBe(2)
  expect(await find(unknown, true)).toBeUndefined()
  expect(asked).toBe(2)
  expect(await find(own, true)).toBeDefined()
  expect(asked).toBe(3)
})
