import pg from "pg"
import type { Database, Orm, Queries } from "./database.ts"
import { loadServerDriver } from "./drizzle.ts"
import { DatabaseUnavailable, isStale } from "./errors.ts"
import { createLeases, type Lease } from "./leases.ts"
import { createListening } from "./listening.ts"
import { createWriteWatch } from "./write-watch.ts"

type ServerOptions = {
  readonly url: string
  /** Longest time of one statement on the server, in milliseconds; 0 for none. */
  readonly statementMs: number
  readonly connections: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

const connectMs = 2000
const idleMs = 60_000
const closeMs = 1000

const asText = (value: string): string => value

// A URL means what it means to psql: `sslmode=require` encrypts, `verify-full` looks at the certificate as well.
const likeLibpq = (given: string): string => {
  const url = new URL(given)
  if (!url.searchParams.has("uselibpqcompat")) url.searchParams.set("uselibpqcompat", "true")
  return url.href
}

/** A PostgreSQL server. Nothing is connected until something is asked. */
export const openServerDatabase = ({ url, statementMs, connections, now }: ServerOptions): Database => {
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, asText)
  const config: pg.ClientConfig = {
    connectionString: likeLibpq(url),
    application_name: "svc-platform-api",
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    types,
  }
  const pool = new pg.Pool({ ...config, max: connections, idleTimeoutMillis: idleMs })
  const leases = createLeases(pool, now)
  const { watch, watchWrite, stores } = createWriteWatch(now)
  const { drizzle } = loadServerDriver()

  // Every statement goes by an index for any values, so it is planned once a connection: left to itself the server would
  // plan the look-up of keys anew each time, which takes longer than the look-up. Set by a statement, because poolers
  // let no unknown settings pass at the start.
  const settings = `set timezone = 'UTC'; set statement_timeout = ${statementMs}; set plan_cache_mode = force_generic_plan`
  const prepared = new WeakMap<pg.PoolClient, Orm>()
  const ormOf = async (client: pg.PoolClient): Promise<Orm> => {
    let orm = prepared.get(client)
    if (orm === undefined) {
      await client.query(settings)
      orm = drizzle(client)
      prepared.set(client, orm)
    }
    return orm
  }

  const names = new Map<string, string>()
  let named = 0
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `s${named++}`
    names.set(text, name)
    return name
  }
  const ask = async (client: pg.PoolClient, text: string, values: unknown[]) => {
    try {
      return await client.query({ name: nameOf(text), text, values })
    } catch (error) {
      if (!isStale(error)) throw error
      names.delete(text)
      return await client.query({ name: nameOf(text), text, values })
    }
  }

  const transact = async <T>(
    client: pg.PoolClient,
    lease: Lease,
    work: (tx: Orm) => Promise<T>,
    deadline: number,
  ): Promise<T> => {
    const orm = await ormOf(client)
    await client.query("begin")
    try {
      const result = await work(orm)
      if (now() >= deadline) throw new DatabaseUnavailable("the transaction ran out of time")
      lease.committing = true
      const { command } = await client.query("commit")
      lease.committing = false
      if (command !== "COMMIT") throw new Error("a statement of the transaction had failed")
      return result
    } catch (error) {
      // A server that still takes this has answered all that was asked before: then nothing was committed.
      const alive = await client.query("rollback").then(
        () => true,
        () => false,
      )
      if (alive) lease.committing = false
      throw error
    }
  }

  const within = (ms: number): Queries => {
    const deadline = now() + ms
    return {
      query: <Row>(text: string, params: readonly unknown[]) =>
        watch(
          leases.take(deadline, async (client) => {
            await ormOf(client)
            return (await ask(client, text, [...params])).rows as readonly Row[]
          }),
        ),
      run: (work) => watch(leases.take(deadline, async (client) => work(await ormOf(client)))),
      transaction: (work, turn) =>
        watchWrite(leases.take(deadline, (client, lease) => transact(client, lease, work, deadline), turn)),
    }
  }

  const { listen, isOpen, end } = createListening({ ...config, query_timeout: connectMs })
  return {
    within,
    connections: () => pool.totalCount + (isOpen() ? 1 : 0),
    listen,
    stores,
    close: async () => {
      end()
      const timer = setTimeout(leases.cut, closeMs)
      await pool.end()
      clearTimeout(timer)
    },
  }
}
