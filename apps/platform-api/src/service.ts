import { metrics } from "@opentelemetry/api"
import { createEventStreams, serve } from "@svc/http"
import { createLogger, type Runtime } from "@svc/program"
import { openLimits } from "@svc/limits"
import { clientSpan, startTelemetry } from "@svc/telemetry"
import { LRUCache } from "lru-cache"
import manifest from "../package.json" with { type: "json" }
import { everyAnswer, unreadableResponse } from "./answers.ts"
import { createApp } from "./app.ts"
import { forgetSignups, readKeySecret } from "./auth/accounts.ts"
import { createKeyWatch, keyChannel } from "./auth/key-watch.ts"
import { createKeyFinder } from "./auth/find-key.ts"
import { createUsageCounter, forgetUsage } from "./auth/usage.ts"
import { createUseTracker } from "./auth/use-tracker.ts"
import { startBackgroundTasks } from "./background-tasks.ts"
import { createCompiler } from "./compiler/compiler.ts"
import { drainMs, hookSecretsIn, readConfig } from "./config.ts"
import { compareClocks } from "./db/server/clock.ts"
import { requestMs } from "./db/database.ts"
import { openDatabase } from "./db/open.ts"
import { createMetrics, measureDatabase, observeState } from "./metrics.ts"
import { createChangeFeed, forgetChanges } from "./registry/changes.ts"
import { createRegistry } from "./registry/registry.ts"
import { registryChannel } from "./registry/stack-changes.ts"
import { createStackVersions } from "./registry/stack-versions.ts"
import { createAstLinks } from "./registry/ast-links.ts"
import { forgetAnswers } from "./routes/change.ts"
import { createProbe } from "./routes/health.ts"
import { createHandlers } from "./work/steps/handlers.ts"
import { createHook } from "./work/steps/hook.ts"
import { startWorker } from "./work/queue/worker.ts"
import { pruneDaily } from "./operator/prune.ts"
import { publishedSamples, seed } from "./operator/publish.ts"
import { keepSigningKeys } from "./signing-keys.ts"

const { version } = manifest

const statementMs = 1500
export const compileMs = 10_000
const pruneMs = 3_600_000
const maxExhausted = 100_000

const embeddedWarning = (folder: string, samples: readonly string[]): string =>
  `In production without DATABASE_URL: accounts, keys and stacks are in an embedded database in ${folder}. Only one process can use it, and a power failure can lose the last changes. Set DATABASE_URL to a PostgreSQL server.${samples.length === 0 ? "" : ` The registry has sample stacks (${samples.join(", ")}): remove them with \`stack unpublish NAME\` while the service is stopped.`}`

/** Starts the service. Rejects with a message for the operator. */
export const startService = async (runtime: Runtime) => {
  const { env, wallClock, now, randomBytes, randomId } = runtime
  const config = await readConfig(env)
  const log = await createLogger({ level: config.logLevel, pretty: runtime.terminal, service: "platform-api" })
  const signingKeys = config.givenKeys ?? (await keepSigningKeys(config, (message) => log.warn(message)))
  const telemetry = await startTelemetry(config, runtime, {
    service: "svc-platform-api",
    version,
    prometheusPort: 9466,
    log,
  })
  const meter = metrics.getMeter("svc.platform", version)
  const { database: opened } = await openDatabase(config, { statementMs, now })
  const database = telemetry === undefined ? opened : measureDatabase(opened, meter)
  const isEmbedded = config.databaseUrl === undefined
  const isProduction = config.nodeEnv === "production"
  if (config.sampleStacks ?? (isEmbedded && !isProduction))
    await seed(database, config.streamUrl, new Date(wallClock()))
  if (isEmbedded && isProduction)
    log.warn(embeddedWarning(config.dataFolder, [...(await publishedSamples(database)).keys()]))
  const keySecret = await database.within(statementMs).run(readKeySecret)
  const clock = isEmbedded ? [] : await compareClocks(database.within(statementMs), wallClock)
  for (const { verdict, text, next } of clock) if (verdict === "fail") log.warn({ next }, text)
  const registry = createRegistry(database)
  const compiler = createCompiler({ deadlineMs: compileMs, now })
  let refreshedAt = now()
  const changes = await createChangeFeed(database)
  const refresh = async (): Promise<void> => {
    await registry.refresh()
    refreshedAt = now()
    await changes.poll(registry.revision())
  }
  await refresh()
  const serviceMetrics = createMetrics(meter)

  const connect = () => import("redis")
  const about = { service: "platform-api", replicaId: randomId(), now, connect, log, call: clientSpan } as const
  const limits = await openLimits(config.limits, about)
  observeState(meter, {
    queries: () => opened.within(statementMs),
    connections: database.connections,
    registryAgeMs: () => now() - refreshedAt,
    limitsMode: limits.mode,
  })
  const keyWatch = createKeyWatch()
  const useTracker = createUseTracker(database, wallClock)
  const usage = createUsageCounter(database, wallClock)
  const stopping = new AbortController()
  const server = await serve({
    host: config.host,
    port: config.port,
    probePort: config.probePort,
    drainMs,
    bounds: config.bounds,
    trustedProxies: config.trustedProxies,
    observe: telemetry?.observe,
    requests: { log, now, randomId, quiet: ["/health", "/livez", "/readyz"] },
    headers: everyAnswer,
    onUnreadable: unreadableResponse(config.docsUrl),
  })
  const publicUrl = config.publicUrl ?? server.url
  const { deployHookUrl: hookUrl, deployHookSecret: hookSecret } = config
  const astLinks = hookSecret === undefined ? undefined : createAstLinks(publicUrl, hookSecret)
  const app = createApp({
    version,
    config,
    publicUrl,
    database,
    findKey: createKeyFinder(database, requestMs, keySecret),
    registry,
    versions: createStackVersions(database, compiler),
    compiler,
    changes,
    keyWatch,
    astLinks,
    streams: createEventStreams({ stopping: stopping.signal }),
    databaseResponds: createProbe(database),
    exhausted: new LRUCache({ max: maxExhausted, perf: { now }, ttlResolution: 0 }),
    overLimit: new LRUCache({ max: maxExhausted }),
    signingKeys,
    limits,
    useTracker,
    usage,
    log,
    metrics: serviceMetrics,
    wallClock,
    now,
    randomBytes,
    keySecret,
    randomId,
  })
  server.handle(app.fetch)
  database.listen(registryChannel, () => void refresh().catch(() => {}))
  database.listen(keyChannel, () => void keyWatch.check())
  const unusedDays = config.agentUnusedDays
  const stopBackgroundTasks = startBackgroundTasks(log, [
    [1000, refresh],
    [1000, useTracker.flush],
    [10_000, usage.flush],
    [600_000, () => forgetUsage(database.within(statementMs), config.usageDays, new Date(wallClock()))],
    [60_000, keyWatch.check],
    ...(unusedDays === undefined
      ? []
      : [[600_000, () => pruneDaily(database.within(pruneMs), { unusedDays, at: new Date(wallClock()) })] as const]),
    [60_000, () => forgetChanges(database, config.changesDays)],
    [60_000, () => forgetSignups(database.within(statementMs))],
    [60_000, () => forgetAnswers({ database, wallClock })],
  ])
  const work = () =>
    startWorker({
      database,
      log,
      holder: randomId(),
      alone: isEmbedded,
      now,
      onDone: serviceMetrics.jobDone,
      handlers: createHandlers({
        now: () => new Date(wallClock()),
        config,
        hook:
          hookUrl === undefined || hookSecret === undefined
            ? undefined
            : createHook(hookUrl, hookSecretsIn(hookSecret)),
        compiler,
        astUrl: (versionId, at) => astLinks?.make(versionId, at) ?? "",
      }),
    })
  const stopWorker = config.worker ? work() : async () => {}
  log.info({ host: server.host, port: server.port, version }, "listening")
  return {
    log,
    port: server.port,
    database,
    close: async () => {
      stopping.abort()
      await Promise.all([server.close(), stopWorker()])
      await compiler.close()
      stopBackgroundTasks()
      await useTracker.flush().catch(() => {})
      await usage.flush().catch(() => {})
      await limits.close()
      await database.close()
      await telemetry?.stop()
    },
  }
}
