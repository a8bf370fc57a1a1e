import { setTimeout as delay } from "node:timers/promises"
import { flag, integer, loadConfig, oneOf, text, url } from "@svc/config"
import { type Bounds, defaultBounds } from "@svc/http"
import { createLogger, type Runtime } from "@svc/program"
import { remoteKeys } from "@svc/session-token"
import { createChain } from "./source/chain.ts"
import { type Batch, followChain } from "./source/follow.ts"
import { followRegistry, type PublishedStack } from "./source/registry.ts"
import { drainMs, startServer } from "./server/server.ts"
import { createStack, type Stack, updatesIn } from "./stack/stack.ts"
import { runTraffic } from "./source/traffic.ts"

const fields = {
  host: text("HOST", "127.0.0.1"),
  port: integer("PORT", 4004, { min: 0, max: 65_535 }),
  logLevel: oneOf("SVC_LOG_LEVEL", "info", ["debug", "info", "warn", "error", "silent"]),
  rpcUrl: url("RPC_URL", "http://127.0.0.1:8899", { exact: true, credentials: true }),
  apiUrl: url("SVC_API_URL", "http://localhost:4003"),
  issuer: text("SVC_SESSION_ISSUER", "svc-platform"),
  sampleTraffic: flag("SVC_SAMPLE_TRAFFIC", false),
}

/**
 * Starts the local stream. Rejects with a message for the operator.
 * @param bounds limits on what slow clients may cost
 * @example
 * ```ts
 * const { port, close } = await startLocalStream(runtime)
 * ```
 */
export const startService = async (runtime: Runtime, bounds: Bounds = defaultBounds) => {
  const settings = loadConfig(fields, runtime.env)
  const { host, logLevel, rpcUrl, apiUrl, sampleTraffic } = settings
  const log = await createLogger({ level: logLevel, pretty: runtime.terminal, service: "local-stream" })
  const published = new Map<string, { readonly from: PublishedStack; readonly stack: Stack }>()
  const stopping = new AbortController()
  const { signal } = stopping
  let slot: bigint | undefined
  const loaded = Promise.withResolvers<void>()
  let isLoaded = false

  const sleep = (ms: number): Promise<void> => delay(ms, undefined, { signal, ref: false }).catch(() => {})
  /** Logs a problem with a source once, until the reason changes. */
  const problem = (message: string) => {
    let last: string | undefined
    return (reason: string): void => {
      if (reason !== last && !signal.aborted) log.warn({ reason }, message)
      last = reason
    }
  }

  const jwksUrl = `${apiUrl}/.well-known/jwks.json`
  const server = await startServer({
    ...settings,
    ...runtime,
    bounds,
    keys: remoteKeys({ url: jwksUrl, fetch, now: runtime.now, onProblem: problem("session keys can't be read") }),
    health: () => {
      const read = slot === undefined ? null : Number(slot)
      const stateOf = ({ version, counts }: Stack) => ({ version, slot: read, entities: counts() })
      const stacks = [...published].map(([name, { stack }]) => [name, stateOf(stack)])
      return isLoaded ? { status: "ok", stacks: Object.fromEntries(stacks) } : undefined
    },
    onCut: (reason) => log.warn({ reason }, "a client was cut off"),
    onBug: (error) => log.error({ err: error }, "unexpected error"),
  })

  const put = (from: PublishedStack): Stack => {
    const stack = createStack(from.ast, from, runtime.randomId().slice(0, 8))
    published.set(from.name, { from, stack })
    server.put(stack)
    return stack
  }
  const onStack = (from: PublishedStack): void => {
    const { name, version } = from
    try {
      const { plan } = put(from)
      log.info({ stack: name, version }, "serving a stack")
      for (const { what, uses } of plan.unsupported) {
        log.warn(`stack ${name}: ${what} uses ${uses}, which the local stream does not compute`)
      }
    } catch (error) {
      log.warn({ stack: name, version, reason: String(error) }, "the AST can't be interpreted")
    }
  }
  const incomplete = problem("a stack's AST failed: its records lack changes")
  const onBatch = (batch: Batch): void => {
    slot = batch.blocks.at(-1)?.slot ?? slot
    for (const [name, { stack }] of published) {
      // Thrown on, it would repeat the batch for the stacks that have applied it.
      try {
        stack.apply(updatesIn(batch, stack.plan))
      } catch (error) {
        incomplete(`${name}: ${String(error)}`)
      }
    }
  }
  const onNewChain = (): void => {
    log.warn("the source is another chain: all records are dropped")
    for (const { from } of published.values()) put(from)
  }
  const watchedPrograms = (): Set<string> => {
    const entities = [...published.values()].flatMap(({ stack }) => stack.plan.entities)
    const handlers = entities.flatMap((entity) => entity.handlers).filter(({ kind }) => kind === "account")
    return new Set(handlers.map(({ program }) => program))
  }

  const registry = followRegistry(apiUrl, {
    sleep,
    signal,
    onStack,
    onProblem: problem("the registry can't be read"),
    onGone: (name) => {
      published.delete(name)
      server.remove(name)
    },
    onLoaded: () => {
      isLoaded = true
      loaded.resolve()
    },
  })
  /** Reads the chain once the stacks say which programs matter. */
  const readChain = async (): Promise<void> => {
    await Promise.race([loaded.promise, registry])
    const onProblem = problem("the chain can't be read")
    const chain = followChain(createChain(rpcUrl), { onBatch, onNewChain, watchedPrograms, onProblem, sleep, signal })
    if (sampleTraffic) await runTraffic(rpcUrl, { sleep, signal, onProblem: problem("sample traffic failed") })
    await chain
  }
  const following = Promise.all([registry, readChain()])
  log.info({ host, port: server.port, sampleTraffic }, "listening")
  return {
    log,
    port: server.port,
    close: async (): Promise<void> => {
      stopping.abort()
      await server.close()
      // A source that doesn't answer has nothing more to tell.
      await Promise.race([following, delay(drainMs, undefined, { ref: false })])
    },
  }
}
