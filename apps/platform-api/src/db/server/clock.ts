import { checkClock } from "@svc/program"
import { type Queries, sql } from "../database.ts"

/** Compares this machine's clock with the database server's. The connection is open already. */
export const compareClocks = async (queries: Queries, wallClock: () => number) => {
  const before = wallClock()
  const milliseconds = sql<string>`(extract(epoch from clock_timestamp()) * 1000)::text`
  const [found] = await queries.run((orm) => orm.select({ now: milliseconds }).from(sql`(select) nothing`))
  return checkClock("the database", Number(found?.now), [before, wallClock()], 0)
}
