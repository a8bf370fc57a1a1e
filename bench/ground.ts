// The whole service on this machine: real PostgreSQL and Redis, a canned provider, any number of replicas of each service, and
// the peers that they are compared with.
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { generateSigningKey } from "@svc/session-token"
import { freePort, startPostgres, startProcess, startRedis, type TestProcess } from "@svc/testing"
import { allocatorSettings } from "../infra/services.ts"

const apps = join(import.meta.dirname, "../apps")

// As in the images.
const main = ["src/main.ts"]
const many = "100000000"

/** One process of a service. */
export type Replica = {
  readonly name: string
  readonly url: string
  readonly child: TestProcess
  /** From its start until it was ready, in milliseconds. */
  readonly startMs: number
}

/** Resident memory of a process now, in MB. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024

/** A collector that accepts everything and stores nothing, and the settings for a service to export to it. */
export const startCollector = async () => {
  let received = 0
  const server = createServer((request, response) => {
    received++
    request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    settings: {
      SVC_OTEL_ENABLED: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_METRIC_EXPORT_INTERVAL: "5000",
      OTEL_METRIC_EXPORT_TIMEOUT: "5000",
    },
    received: (): number => received,
    stop: (): void => void server.close(),
  }
}

/** Starts what the services depend on. Returns functions that start the services; `stop` ends everything. */
export const openGround = async (nodeFlags: readonly string[] = []) => {
  const postgres = await startPostgres()
  const redis = await startRedis()
  const data = await mkdtemp(join(tmpdir(), "svc-bench-"))
  const children: TestProcess[] = []
  const begin = (app: string, args: readonly string[], env: Readonly<Record<string, string>>): TestProcess => {
    const child = startProcess(process.execPath, [...nodeFlags, ...args], {
      cwd: join(apps, app),
      env: { ...allocatorSettings, ...env },
      // Logs are written but not read.
      mute: args === main,
    })
    children.push(child)
    return child
  }
  /** Starts a program that prints its port, such as a server that a service is compared with. */
  const peer = async (
    app: string,
    file: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly url: string; readonly pid: number }> => {
    const child = begin(app, [file], env)
    return { url: `http://127.0.0.1:${(await child.waitFor(/"port":(\d+)/))[1]}`, pid: child.pid }
  }
  const { url: providerUrl } = await peer("relay", "bench/canned-rpc.ts")
  const platform = {
    DATABASE_URL: postgres.url,
    SVC_DATA_DIR: data,
    SVC_SESSION_SIGNING_KEY: await generateSigningKey(),
    SVC_SIGNUPS_PER_HOUR: "1000000",
    SVC_REGISTRY_REQUESTS_PER_MINUTE: "0",
    SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE: "0",
    SVC_SESSIONS_PER_MINUTE: "0",
    SVC_REQUESTS_PER_MINUTE: "0",
  }

  /** Starts one process of a service on a free port. */
  const start = async (app: string, env: Readonly<Record<string, string>> = {}): Promise<Replica> => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const began = performance.now()
    const child = begin(app, main, { PORT: String(port), ...env })
    const ended = child.exited.then(() => {
      throw new Error(`${app} ended: ${child.stderr()}`)
    })
    const ready = async (): Promise<boolean> => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200
    while (!(await Promise.race([ready(), ended]))) await delay(20)
    return { name: app, url, child, startMs: performance.now() - began }
  }

  return {
    peer,
    providerUrl,
    databaseUrl: postgres.url,
    folder: data,
    /** Settings with which the replicas of a service share their limits. */
    limits: { SVC_LIMITS_URL: redis.url, SVC_LIMITS_REPLICAS: "2" },
    /** Also for the operator's commands. */
    platformSettings: platform,
    platform: (env: Readonly<Record<string, string>> = {}) => start("platform-api", { ...platform, ...env }),
    docs: () => start("docs-server", {}),
    relay: (platformUrl: string, env: Readonly<Record<string, string>> = {}) =>
      start("relay", {
        SVC_TRANSACTIONS_ENABLED: "true",
        SVC_TRANSACTION_RPC_URL: providerUrl,
        SVC_SESSION_JWKS_URL: `${platformUrl}/.well-known/jwks.json`,
        SVC_SESSION_AUDIENCE: "transfers",
        SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: many,
        SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: many,
        SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: many,
        // A replica that briefly runs without the store has only its share. It must exceed twice a load's connections, because those of
        // the previous load are released later.
        SVC_TRANSACTION_INSPECT_CONCURRENCY: "1024",
        SVC_TRANSACTION_SEND_CONCURRENCY: "64",
        ...env,
      }),
    /** Publishes the stack whose tokens the relay accepts. */
    publishTransfers: async (): Promise<void> => {
      const stack = ["stack", "publish", "stacks/transfers.stack.json", "--name", "transfers", "--relay"]
      const args = [...main, ...stack, "--websocket-url", transfersUrl]
      const child = begin("platform-api", args, platform)
      if ((await child.exited) !== 0) throw new Error(child.stderr())
    },
    stop: async (): Promise<void> => {
      for (const child of children) child.kill("SIGKILL")
      await Promise.all(children.map(({ exited }) => exited))
      await redis.stop()
      await postgres.stop()
      await rm(data, { recursive: true, force: true })
    },
  }
}

export const transfersUrl = "wss://streams.example.com/transfers"
