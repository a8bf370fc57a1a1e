import type { Database, Orm, Queries } from "../database.ts"
import { canOnlyRead, DatabaseUnavailable, explain } from "../errors.ts"
import { createLeases, type Lease } from "./leases.ts"
import { createListening } from "./listening.ts"
import { loadDriver, openSession, readServerUrl, type Session } from "./session.ts"
import { createWriteWatch } from "../write-watch.ts"

type ServerOptions = {
  readonly url: string
  /** Time limit for one statement on the server, in milliseconds; 0 for none. */
  readonly statementMs: number
  readonly connections: number
  readonly openMs?: number
  readonly now: () => number
}

/** A PostgreSQL server. It connects on first use. */
export const openServerDatabase = ({ url, statementMs, connections, openMs, now }: ServerOptions): Database => {
  const settings = {
    // Defaults of a role or a database would change how values are written and read, or make statements fail.
    timezone: "UTC",
    datestyle: "ISO",
    bytea_output: "hex",
    extra_float_digits: 1,
    standard_conforming_strings: "on",
    default_transaction_isolation: "read committed",
    lock_timeout: 0,
    // The pool ends idle sessions itself. A statement that is sent while the server ends one would be lost.
    idle_session_timeout: 0,
    statement_timeout: statementMs,
    // The server would keep the locks of a replica whose machine vanished until TCP gives up, two hours later. Longer than a
    // transaction of ours pauses.
    idle_in_transaction_session_timeout: 60_000,
    // Every statement has a good generic plan, so each is planned once per connection. Otherwise the server would plan
    // the frequent key lookup every time, which takes longer than the lookup.
    plan_cache_mode: "force_generic_plan",
  }
  const set = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`)
  const first = set.join("; ")
  const server = readServerUrl(url)
  loadDriver()
  const leases = createLeases((onEnd) => openSession({ server, first, openMs, onEnd }), connections, now)
  const { watch, watchWrite, stores } = createWriteWatch(now)

  const transact = async <T>(
    { ask, orm }: Session,
    lease: Lease,
    work: (tx: Orm) => Promise<T>,
    deadline: number,
  ): Promise<T> => {
    await ask("begin")
    try {
      const result = await work(orm)
      if (now() >= deadline) throw new DatabaseUnavailable("the transaction ran out of time")
      lease.committing = true
      const { command } = await ask("commit")
      lease.committing = false
      if (command !== "COMMIT") throw new Error("a statement of the transaction had failed")
      return result
    } catch (error) {
      // If the server accepts the rollback, it has processed everything before: nothing was committed.
      const isRolledBack = await ask("rollback").then(
        () => true,
        () => false,
      )
      if (isRolledBack) lease.committing = false
      // A new session may reach the server that was made the primary one.
      lease.reusable = isRolledBack && !canOnlyRead(explain(error))
      throw error
    }
  }

  const within = (ms: number): Queries => {
    const deadline = now() + ms
    return {
      query: <Row>(text: string, params: readonly unknown[]) =>
        watch(leases.take(deadline, ({ ask }): Promise<readonly Row[]> => ask(text, params))),
      run: (work) => watch(leases.take(deadline, ({ orm }) => work(orm))),
      transaction: (work, queue) =>
        watchWrite(leases.take(deadline, (session, lease) => transact(session, lease, work, deadline), queue)),
    }
  }

  const { listen, isOpen, end } = createListening((events) => openSession({ server, ...events }))
  return {
    within,
    connections: () => leases.connections() + (isOpen() ? 1 : 0),
    listen,
    stores,
    close: async () => {
      end()
      await leases.close()
    },
  }
}
