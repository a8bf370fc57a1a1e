// All services as `pnpm start` wires them, on free ports and with a new data folder, next to anything else that runs.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { freePort } from "@svc/testing"

import { services } from "../../infra/services.ts"
import { buildTool } from "./build-tool.ts"
import { withViewerKey } from "./kept-keys.ts"
import { planStart } from "./start-plan.ts"
import { supervise } from "./supervise.ts"

const root = join(import.meta.dirname, "../..")
const patienceMs = 120_000

/**
 * Throws, with the log, if a service doesn't start or `signal` aborts before all are ready. The services get only PATH
 * from the environment. `prepare` gets the data folder before anything runs on it, and the URL of the streams.
 * `viewer`: whether the pages get a key for live data, as under `pnpm start`. All services get `settings`.
 */
export const startInstance = async (
  signal?: AbortSignal,
  prepare: (dataFolder: string, streamUrl: string) => Promise<void> = async () => {},
  {
    viewer = false,
    settings = {},
  }: { readonly viewer?: boolean; readonly settings?: Readonly<Record<string, string>> } = {},
) => {
  const fault = await buildTool(root)
  if (fault !== undefined) throw new Error(fault)
  const folder = await mkdtemp(join(tmpdir(), "svc-instance-"))
  const sparePort = await freePort()
  const ports = await Promise.all(services.map(freePort))
  const { planned } = planStart(services, {
    PATH: process.env["PATH"],
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    SVC_DATA_DIR: join(folder, "data"),
    SVC_SAMPLE_TRAFFIC: "false",
    ...settings,
    ...Object.fromEntries(services.map(({ portVariable }, index) => [portVariable, String(ports[index])])),
  })
  const named = (name: string) => {
    const found = planned.find(({ service }) => service.name === name)
    if (found === undefined) throw new Error(`no service is called ${name}`)
    return found
  }
  await prepare(join(folder, "data"), named("stream").url)
  const ready = viewer ? await withViewerKey(planned) : planned
  const lines: string[] = []
  const options = { root, write: (line: string) => void lines.push(line), patienceMs }
  const running = [supervise(ready, options)]
  /** Stops every service in order and removes the folder. Can be called repeatedly. */
  const stop = async (): Promise<void> => {
    for (const one of running) one.stop()
    await Promise.all(running.map(({ ended }) => ended))
    // An interrupted command may still be writing.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const allReady = async (): Promise<void> => {
    if ((await Promise.all(running.map((one) => one.ready))).every(Boolean)) return
    await stop()
    throw new Error(`the services did not start:\n${lines.join("\n")}`)
  }
  signal?.addEventListener("abort", () => running[0]?.stop())
  if (signal?.aborted) running[0]?.stop()
  await allReady()

  /** Starts another relay whose clock is ahead, and returns its URL. */
  const startRelayAhead = async (ms: number): Promise<string> => {
    const relay = named("relay")
    const clock = `const real=Date.now;Date.now=()=>real()+${ms}`
    const env = {
      ...relay.env,
      PORT: String(sparePort),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}`,
    }
    running.push(supervise([{ ...relay, port: sparePort, env }], options))
    await allReady()
    return `http://localhost:${sparePort}`
  }
  return {
    docsUrl: named("docs").url,
    apiUrl: named("platform").url,
    relayUrl: named("relay").url,
    chainUrl: named("chain").url,
    /** The local stream's URL, without a stack: `ws://127.0.0.1:4004`. */
    streamUrl: named("stream").url,
    /** A temporary folder, which is removed with the instance. */
    folder,
    /** Everything that the services have logged so far. */
    log: () => lines.join("\n"),
    startRelayAhead,
    stop,
  }
}

export type Instance = Awaited<ReturnType<typeof startInstance>>
