import { full } from "@svc/testing"
import fc from "fast-check"
import { beforeAll, expect, test } from "vitest"
import { buildStatements } from "../../src/routes/builds/builds.ts"
import { testService } from "../service.ts"
import { insertBuilds } from "./records.ts"

const service = testService("postgres")
let accounts: readonly number[]
let total = 0
beforeAll(async () => {
  const slugs = await Promise.all([1, 2, 3].map(async () => (await service.signUp()).slug))
  const [first = "", second = "", third = ""] = slugs
  for (const [owner, friends, count] of [
    [first, [second], 700],
    [second, [first, third], 900],
    [third, [], 1500],
    [first, [third], 400],
  ] as const) {
    await insertBuilds(service, owner, count, friends)
    total += count
  }
  const found = await query(
    "select user_id as id from agent_profiles where slug = any(string_to_array($1, ' ')) order by user_id",
    [slugs.join(" ")],
  )
  accounts = found.map(({ id }) => id)
})

const query = (text: string, values: readonly unknown[] = []) => service.database().query<{ id: number }>(text, values)

const seenBy = (account: number) =>
  query(
    "select id from builds b where owner_id = $1 or exists (select from build_shares where user_id = $1 and record_id = b.id) order by id desc",
    [account],
  )

const pagesAreRight = async (account: number) => {
  const all = await seenBy(account)
  const page = fc.record({ limit: fc.integer({ min: 1, max: 101 }), offset: fc.nat(total) })
  await fc.assert(
    fc.asyncProperty(page, async ({ limit, offset }) => {
      const rows = await service.database().run((db) => buildStatements.list(db).execute({ account, limit, offset }))
      expect(rows.map(({ id }) => ({ id }))).toEqual(all.slice(offset, offset + limit))
    }),
    { numRuns: full ? 100 : 25 },
  )
}

test("any page of own and shared records is the right part of the whole list", async () => {
  expect(accounts).toHaveLength(3)
  for (const account of accounts) await pagesAreRight(account)
})

test("the counts for finding pages follow every change", async () => {
  const [account = 0, other = 0] = accounts
  await query("delete from build_shares where user_id = $1 and record_id % 3 = 0", [account])
  await query(
    "delete from builds where owner_id = $1 and id % 2 = 0 and not exists (select from build_shares where record_id = id)",
    [account],
  )
  await query(
    "insert into build_shares (user_id, record_id) select $1, id from builds where owner_id <> $1 on conflict do nothing",
    [account],
  )
  await query(
    "insert into builds (owner_id, spec_id, spec_version_id, status, created_at) select owner_id, spec_id, spec_version_id, 'pending', now() from builds where owner_id = $1",
    [other],
  )
  const counts = await query(`
    select kind, user_id, block, records from record_blocks where records > 0
    except select 'builds', account, id >> 10, count(*)::integer from (
      select owner_id as account, id from builds union all select user_id, record_id from build_shares
    ) seen group by 2, 3
    except select 'specs', account, id >> 10, count(*)::integer from (
      select owner_id as account, id from specs union all select user_id, record_id from spec_shares
    ) seen group by 2, 3`)
  expect(counts).toEqual([])
  for (const each of accounts) await pagesAreRight(each)
})
