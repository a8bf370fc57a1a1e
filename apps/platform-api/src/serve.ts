import { readFileSync } from "node:fs"
import { metrics } from "@opentelemetry/api"
import { createClientAddress, createLogger, serve } from "@svc/http"
import { openLimits } from "@svc/limits"
import { startTelemetry } from "@svc/telemetry"
import manifest from "../package.json" with { type: "json" }
import { sampleStacks } from "../stacks/index.ts"
import { createApp, everyAnswer, unreadableAnswer } from "./app.ts"
import { forgetSignups } from "./auth/accounts.ts"
import { createKeyFinder } from "./auth/find-key.ts"
import { requestMs } from "./auth/guard.ts"
import { createUseTracker } from "./auth/use-tracker.ts"
import type { Config } from "./config.ts"
import type { Database } from "./db/database.ts"
import { orm } from "./db/drizzle.ts"
import { openDatabase } from "./db/open.ts"
import { registryState, stacks } from "./db/schema.ts"
import { createMetrics, measureDatabase, observeLimits, observeState } from "./metrics.ts"
import { publish } from "./operator/publish.ts"
import { readAst } from "./registry/read-ast.ts"
import { createRegistry, registryChannel } from "./registry/registry.ts"
import { spellingsOf } from "./registry/websocket-url.ts"
import { createStackVersions } from "./registry/stack-versions.ts"
import { createAstLinks } from "./registry/ast-links.ts"
import { forgetAnswers } from "./routes/change.ts"
import { createHandlers } from "./work/handlers.ts"
import { createHook } from "./work/hook.ts"
import { startWorker } from "./work/worker.ts"
import { keepSigningKeys } from "./signing-keys.ts"

export type Outside = {
  /** Wall clock, in milliseconds since 1970. */
  readonly wallClock: () => number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly randomBytes: (size: number) => Uint8Array
  readonly randomId: () => string
  /** The environment, for the standard OTEL_* variables alone. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person reads the log. */
  readonly terminal: boolean
}

const statementMs = 1500
const drainMs = 10_000
const seedMs = 60_000

const seed = async (database: Database, at: Date): Promise<void> => {
  const queries = database.within(seedMs)
  // Each publication raises the revision: a lower one means that the first start did not get to its end.
  const unfinished = orm.lt(registryState.revision, sampleStacks.length)
  const [state] = await queries.run((db) => db.select().from(registryState).where(unfinished))
  if (state === undefined) return
  for (const { file, name, description, websocket_url, visibility, relay, browser_send } of sampleStacks) {
    // What the operator has published before stays as it is.
    const taken = orm.or(orm.eq(stacks.name, name), orm.inArray(stacks.websocketUrl, [...spellingsOf(websocket_url)]))
    const [own] = await queries.run((db) => db.select({ name: stacks.name }).from(stacks).where(taken))
    if (own !== undefined) continue
    const ast = readAst(readFileSync(file, "utf8"))
    const stack = { name, description, visibility, relay, ast, websocketUrl: websocket_url, browserSend: browser_send }
    await publish(queries, { ...stack, allowBreaking: true }, at)
  }
}

/** Work beside the requests, again and again; one round is over before the next begins. An outage is told once. */
export const startChores = (
  log: { readonly info: (message: string) => void; readonly warn: (details: object, message: string) => void },
  chores: readonly (readonly [everyMs: number, work: () => Promise<unknown>])[],
) => {
  // What failed has to succeed itself before the outage is over: other work may have had nothing to ask.
  const failing = new Set<() => Promise<unknown>>()
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
      if (failing.delete(work) && failing.size === 0) log.info("the database is back")
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (failing.size === 0) log.warn({ reason }, "the database can't be used")
      failing.add(work)
    }
  }
  const timers = chores.map(([everyMs, work]) => {
    let running = false
    const round = async (): Promise<void> => {
      if (running) return
      running = true
      await attempt(work)
      running = false
    }
    return setInterval(() => void round(), everyMs)
  })
  return () => timers.forEach((timer) => clearInterval(timer))
}

/** Brings the service up. Rejects when it can't be: the message is for the operator. */
export const startService = async (config: Config, outside: Outside) => {
  const { wallClock, now, randomBytes, randomId } = outside
  const log = await createLogger({ level: config.logLevel, pretty: outside.terminal, service: "platform-api" })
  const signingKeys = config.givenKeys ?? (await keepSigningKeys(config, (message) => log.warn(message)))
  const telemetry = config.telemetry
    ? await startTelemetry({
        env: outside.env,
        service: "svc-platform-api",
        version: manifest.version,
        instanceId: randomId(),
        prometheusPort: 9466,
        trustedProxies: config.trustedProxies,
        onProblem: (reason) => log.warn({ reason: reason.slice(0, 300) }, "the telemetry could not be exported"),
      })
    : undefined
  const meter = metrics.getMeter("svc.platform", manifest.version)
  const { database: opened } = await openDatabase(config, { statementMs, now })
  const database = telemetry === undefined ? opened : measureDatabase(opened, meter)
  if (config.databaseUrl === undefined) await seed(database, new Date(wallClock()))
  const registry = createRegistry(database)
  let refreshedAt = now()
  const refresh = async (): Promise<void> => {
    await registry.refresh()
    refreshedAt = now()
  }
  await refresh()
  observeState(meter, database.connections, () => now() - refreshedAt)

  const limits = await openLimits(config.limits, { service: "platform-api", replicaId: randomId(), now, log })
  observeLimits(meter, limits.mode)
  const clientAddress = createClientAddress(config.trustedProxies, log)
  const useTracker = createUseTracker({ database, wallClock })
  const stopping = new AbortController()
  const apiUrl = (): string => config.publicUrl ?? `http://localhost:${server.port}`
  const { deployHookUrl: hookUrl, deployHookSecret: hookSecret } = config
  const astLinks = hookSecret === undefined ? undefined : createAstLinks(apiUrl, hookSecret)
  const app = createApp({
    version: manifest.version,
    config,
    apiUrl,
    database,
    findKey: createKeyFinder(database, requestMs),
    registry,
    versions: createStackVersions(database),
    astLinks,
    stopping: stopping.signal,
    signingKeys,
    limits,
    useTracker,
    clientAddress,
    log,
    metrics: createMetrics(meter),
    wallClock,
    now,
    randomBytes,
    randomId,
  })
  const server = await serve({
    fetch: app.fetch,
    host: config.host,
    port: config.port,
    drainMs,
    requests: { log, now, randomId, quiet: ["/health", "/health/live", "/livez", "/readyz"] },
    headers: everyAnswer,
    bounds: config.bounds,
    observe: telemetry?.observe,
    onUnreadable: unreadableAnswer,
  })
  database.listen(registryChannel, () => void refresh().catch(() => {}))
  const stopChores = startChores(log, [
    [1000, refresh],
    [1000, useTracker.flush],
    [60_000, () => forgetSignups(database.within(statementMs))],
    [60_000, () => forgetAnswers({ database, wallClock })],
  ])
  const stopWorker = config.worker
    ? startWorker({
        database,
        log,
        holder: randomId(),
        alone: config.databaseUrl === undefined,
        handlers: createHandlers({
          wallClock,
          config,
          hook: hookUrl === undefined || hookSecret === undefined ? undefined : createHook(hookUrl, hookSecret),
          astUrl: (versionId, at) => astLinks?.make(versionId, at) ?? "",
        }),
      })
    : async () => {}
  log.info({ host: server.host, port: server.port, version: manifest.version }, "listening")
  return {
    log,
    port: server.port,
    database,
    close: async () => {
      stopping.abort()
      await Promise.all([server.close(), stopWorker()])
      stopChores()
      await useTracker.flush().catch(() => {})
      await limits.close()
      await database.close()
      await telemetry?.stop()
    },
  }
}
