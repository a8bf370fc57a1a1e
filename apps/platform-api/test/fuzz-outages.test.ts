// @module-tag long
import { setTimeout as pass } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import {
  createRandom,
  type FaultyNetwork,
  full,
  startFaultyNetwork,
  startPostgres,
  type TestPostgres,
} from "@svc/testing"
import fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"
import { sampleStacks } from "../stacks/index.ts"
import { faults } from "./chaos/faults.ts"
import { openSockets } from "./chaos/open-sockets.ts"
import { type Ledger, startLoad, type Outcome } from "./chaos/load.ts"
import { operate, type Replica, startReplica } from "./program.ts"
import { temporaryFolder } from "./service.ts"
import { withSql } from "./with-sql.ts"

// Eight seconds here, an hour in `pnpm fuzz`.
const runMs = full ? 3_600_000 : 8_000

const connections = 11
const websocketUrl = "wss://streams.example/chaos"

let server: TestPostgres
let network: FaultyNetwork
let replica: Replica
let folder: ReturnType<typeof temporaryFolder>

beforeEach(async () => {
  server = await startPostgres()
  network = await startFaultyNetwork(server.port)
  folder = temporaryFolder()
  const env = {
    DATABASE_URL: `postgres://postgres@127.0.0.1:${network.port}/postgres`,
    SVC_DATA_DIR: folder.folder,
    SVC_LOG_LEVEL: "error",
    SVC_SIGNUPS_PER_HOUR: "1000000",
    SVC_TRUSTED_PROXY_CIDRS: "127.0.0.1",
  }
  const file = fileURLToPath(sampleStacks[0]?.file ?? "")
  await operate(["stack", "publish", file, "--name", "chaos", "--websocket-url", websocketUrl], env)
  replica = await startReplica({ ...env, SVC_LOG_LEVEL: "info" })
})
afterEach(async () => {
  replica.program.kill("SIGKILL")
  await replica.program.exited
  await network.close()
  await server.stop()
  folder.remove()
})

const ask = <Row extends object>(text: string): Promise<readonly Row[]> =>
  withSql(server.url, (sql) => sql.unsafe<Row[]>(text))

const countOf = (rows: readonly { readonly name: string | number }[]) => {
  const counts = new Map<string | number, number>()
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Where what clients were told and what the database says are two things. */
const lies = (
  kind: string,
  told: ReadonlyMap<string | number, Outcome>,
  counts: ReadonlyMap<string | number, number>,
) =>
  [...told].flatMap(([name, outcome]) => {
    const found = counts.get(name) ?? 0
    const right = outcome === "done" ? found === 1 : outcome === "not done" ? found === 0 : found <= 1
    return right ? [] : [`${kind} ${name}: told ${outcome}, found ${found}`]
  })

const liesIn = async (ledger: Ledger): Promise<readonly string[]> => {
  const profiles = await ask<{ name: string }>("select display_name as name from agent_profiles")
  const keys = await ask<{ name: string }>("select name from api_keys")
  const revoked = await ask<{ name: number }>("select id as name from api_keys where revoked_at is not null")
  const [parts] = await ask<Record<string, number>>(`
    select (select count(*)::int from users) as users, (select count(*)::int from agent_profiles) as profiles,
      (select count(*)::int from api_keys where name = 'signup') as keys,
      (select count(*)::int from audit_log where action = 'agent.signup') as signups_told,
      (select count(*)::int from api_keys where name <> 'signup') - (select count(*)::int from audit_log where action = 'key.mint') as mints_untold,
      (select count(*)::int from api_keys where revoked_at is not null) - (select count(*)::int from audit_log where action = 'key.revoke') as revocations_untold`)
  const whole = {
    users: profiles.length,
    profiles: profiles.length,
    keys: profiles.length,
    signups_told: profiles.length,
  }
  expect(parts, "what belongs together").toEqual({ ...whole, mints_untold: 0, revocations_untold: 0 })
  return [
    ...lies("sign-up", ledger.signUps, countOf(profiles)),
    ...lies("mint", ledger.mints, countOf(keys)),
    ...lies("revocation", ledger.revocations, countOf(revoked)),
  ]
}

/** Waits until the database is there, a client can sign up again, and the service has no more connections than it may. */
const recovered = async (signUp: () => Promise<unknown>): Promise<void> => {
  const isThere = () =>
    ask("select 1").then(
      () => true,
      () => false,
    )
  await expect.poll(isThere).toBe(true)
  await expect.poll(signUp).toBeDefined()
  const held = "select count(*)::int as n from pg_stat_activity where application_name = 'svc-platform-api'"
  const count = async () => Number((await ask<{ n: number }>(held))[0]?.n)
  await expect.poll(count).toBeLessThanOrEqual(connections)
}

const suffer = async (order: () => string | undefined) => {
  const { next } = createRandom()
  const pick = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  const { exited, stderr, stdout } = replica.program
  const died = exited.then((code) => {
    throw new Error(`the service ended (${code}): ${stderr()}`)
  })
  died.catch(() => {})
  const load = startLoad(replica.url, websocketUrl)
  let peak = 0
  const over = new AbortController()
  const sample = async (): Promise<void> => {
    while (!over.signal.aborted) {
      peak = Math.max(peak, await openSockets(replica.program.pid, network.port))
      await pass(50)
    }
  }
  const sampling = sample()
  try {
    for (let name = order(); name !== undefined; name = order()) {
      await pass(pick(50, 500))
      await faults[name]?.({ server, network, pick }).catch((error: unknown) => {
        throw new Error(`fault "${name}"`, { cause: error })
      })
      await Promise.race([recovered(load.signUp), died]).catch((error: unknown) => {
        const log = stdout().trim().split("\n").slice(-20).join("\n")
        throw new Error(`after "${name}":\n${log}`, { cause: error })
      })
      if (load.ledger.wrong.length > 0) break
    }
  } finally {
    over.abort()
    await Promise.all([sampling, load.stop()])
  }
  const { ledger } = load
  const ended = await Promise.race([exited, pass(100, "it runs")])
  const failures = stdout()
    .split("\n")
    .filter((line) => line.includes("a request failed"))
  const told = { wrong: ledger.wrong.slice(0, 10), lies: await liesIn(ledger) }
  return { ended, stderr: stderr(), failures: failures.slice(0, 3), ...told, peak }
}

const unharmed = { ended: "it runs", stderr: "", failures: [], wrong: [], lies: [] }

test("in any outage of the database, the service runs, reports changes truthfully and stays within its connections", async () => {
  const until = performance.now() + runMs
  // Every fault comes before any comes again.
  const all = Object.keys(faults)
  const everyOne = fc.shuffledSubarray(all, { minLength: all.length })
  const orders = fc.sample(everyOne, 10_000)
  let names: string[] = []
  const order = (): string | undefined => {
    if (performance.now() > until) return undefined
    if (names.length === 0) names = orders.pop() ?? []
    return names.pop()
  }
  const { peak, ...harm } = await suffer(order)
  expect(harm).toEqual(unharmed)
  expect(peak).toBeLessThanOrEqual(connections)
  expect(peak).toBeGreaterThan(1)
})
