// The real services, each a process of its own, wired together as `pnpm start` does it.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createTestDatabase, freePort, startProcess } from "@svc/testing"
import { z } from "zod"

const root = join(import.meta.dirname, "../../../..")

export type Instance = {
  readonly docsUrl: string
  readonly apiUrl: string
  readonly relayUrl: string
  readonly streamUrl: string
  readonly chainUrl: string
  /** The key of a person, whom the operator has made. */
  readonly userKey: string
  /** A folder of its own, gone with the instance. */
  readonly folder: string
  readonly close: () => Promise<void>
}

export const startInstance = async (): Promise<Instance> => {
  const folder = await mkdtemp(join(tmpdir(), "svc-pages-"))
  const [docs, relay, platform, chain] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const urls = {
    SVC_DOCS_URL: `http://localhost:${docs}`,
    SVC_RELAY_URL: `http://localhost:${relay}`,
    SVC_API_URL: `http://localhost:${platform}`,
    // Not the default, so that no page can name it by hand.
    SVC_STREAM_URL: "ws://127.0.0.1:4104",
    SVC_CHAIN_URL: `http://localhost:${chain}`,
  }
  const database = await createTestDatabase()
  const data = { DATABASE_URL: database.url, SVC_DATA_DIR: join(folder, "platform"), SVC_SAMPLE_STACKS: "true" }
  const operator = startProcess(process.execPath, ["src/main.ts", "user", "create", "--email", "ada@example.com"], {
    cwd: join(root, "apps/platform-api"),
    env: data,
  })
  if ((await operator.exited) !== 0) throw new Error(operator.stderr())
  const { api_key: userKey } = z.object({ api_key: z.string() }).parse(JSON.parse(operator.stdout()))
  const start = (path: string, port: number, env: Readonly<Record<string, string>> = {}) =>
    startProcess(process.execPath, ["src/main.ts"], {
      cwd: join(root, path),
      env: { PORT: String(port), ...urls, ...env },
    })
  const processes = [
    start("packages/local-chain", chain),
    start("apps/docs-server", docs),
    // Every page signs up agents of its own, all from one address.
    start("apps/platform-api", platform, { ...data, SVC_SIGNUPS_PER_HOUR: "1000" }),
  ]
  const close = async (): Promise<void> => {
    for (const service of processes) service.kill("SIGTERM")
    await Promise.all(processes.map(({ exited }) => exited))
    await database.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await Promise.all(processes.map((service) => service.waitFor(/listening/)))
    // Last: a relay that finds no keys at its start asks for them again only seconds later.
    const last = start("apps/relay", relay, {
      SVC_TRANSACTIONS_ENABLED: "true",
      SVC_TRANSACTION_RPC_URL: urls.SVC_CHAIN_URL,
      SVC_SESSION_JWKS_URL: `${urls.SVC_API_URL}/.well-known/jwks.json`,
      SVC_SESSION_AUDIENCE: "transfers",
    })
    processes.push(last)
    await last.waitFor(/listening/)
  } catch (error) {
    await close()
    throw error
  }
  return {
    docsUrl: urls.SVC_DOCS_URL,
    apiUrl: urls.SVC_API_URL,
    relayUrl: urls.SVC_RELAY_URL,
    streamUrl: urls.SVC_STREAM_URL,
    chainUrl: urls.SVC_CHAIN_URL,
    userKey,
    folder,
    close,
  }
}
