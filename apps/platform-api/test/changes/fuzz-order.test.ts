// @module-tag long
import { setTimeout as delay } from "node:timers/promises"
import { full } from "@svc/testing"
import { expect, test } from "vitest"
import { DatabaseUnavailable, OutcomeUnknown } from "../../src/db/errors.ts"
import { publishStack, type TestService, testService } from "../service.ts"
import { first, grown } from "../work/person.ts"
import { followChanges } from "./following.ts"

const publications = full ? 300 : 15
const stacks = 6

const env = { SVC_REGISTRY_REQUESTS_PER_MINUTE: "0" }
const one = testService("postgres", env)
const two = testService("postgres", () => ({ DATABASE_URL: one.databaseUrl, ...env }))

test("readers see every change once during overlapping publications and killed connections, at either replica", async () => {
  const query = <Row>(text: string) => one.database().query<Row>(`${text} where $1::int = 1`, [1])
  const publishing = new AbortController()

  const publishAll = async (name: string, service: TestService): Promise<void> => {
    for (let n = 0; n < publications;) {
      try {
        await publishStack(service, name, n % 2 === 0 ? first : grown, { allowBreaking: true })
        n++
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) && !(error instanceof OutcomeUnknown)) throw error
      }
    }
  }
  const killSome = async (): Promise<void> => {
    while (!publishing.signal.aborted) {
      await delay(50)
      await query(
        `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
         where pid <> pg_backend_pid() and datname = current_database() order by random() limit 2) some`,
      ).catch(() => {})
    }
  }
  const poll = async ({ url }: TestService): Promise<readonly number[]> => {
    const ids: number[] = []
    for (let next = 0, last = false; ;) {
      const wasDone = publishing.signal.aborted
      const response = await fetch(`${url}/api/registry/changes?limit=3&after=${next}`)
      if (!response.ok) continue
      const page = (await response.json()) as { changes: { id: number }[]; next: number }
      ids.push(...page.changes.map(({ id }) => id))
      next = page.next
      if (page.changes.length > 0) continue
      if (last) return ids
      last = wasDone
    }
  }
  const follow = async ({ url }: TestService, count: Promise<number>): Promise<readonly number[]> => {
    const ids: number[] = []
    for (let isLast = false; !isLast;) {
      const stream = await followChanges(url, { query: `?after=${ids.at(-1) ?? 0}` })
      // Streams are cut in the middle of everything too.
      const all = count.then((number) => stream.until(number - ids.length))
      const cut = delay(100 + 20 * ids.length, undefined)
      isLast = (await Promise.race([cut, all])) !== undefined
      stream.close()
      await stream.ended
      ids.push(...stream.told.map(({ id }) => id))
    }
    return ids
  }

  const counted = Promise.withResolvers<number>()
  const readers = [one, two].flatMap((service) => [poll(service), follow(service, counted.promise)])
  const killing = killSome()
  await Promise.all(Array.from({ length: stacks }, (_, n) => publishAll(`ordered-${n}`, n % 2 === 0 ? one : two)))
  publishing.abort()
  await killing
  const rows = await query<{ id: number }>("select id::float8 as id from registry_changes")
  const ids = rows.map(({ id }) => id).toSorted((a, b) => a - b)
  counted.resolve(ids.length)
  // Each publication has its row, each row its publication, also where nobody learned whether it was committed.
  const versions = await query<{ count: number }>("select count(*)::int as count from stack_versions")
  expect(ids.length).toBe(versions[0]?.count)
  expect(ids.length).toBeGreaterThanOrEqual(stacks * publications)
  for (const read of await Promise.all(readers)) expect(read).toEqual(ids)
})
