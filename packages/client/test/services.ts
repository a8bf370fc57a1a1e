import { join } from "node:path"
import { createSolanaRpc } from "@solana/kit"
import { startLocalChain } from "@svc/local-chain"
import { generateSigningKey, publicJwks, readSigningKeys, signSessionToken } from "@svc/session-token"
import { freePort, startProcess, type TestProcess } from "@svc/testing"
import type { Platform } from "../src/index.ts"

const root = join(import.meta.dirname, "../../..")
const many = "1000000000"

/** The real relay as a process in front of a real local chain; tokens are signed here as the platform signs them. */
export const startServices = async ({
  now = Date.now,
  relayChainUrl = (url: string) => Promise.resolve(url),
  env = {},
}: {
  /** The chain's clock, Unix ms. */
  readonly now?: () => number
  /** Where the relay finds the chain: a proxy may stand between. */
  readonly relayChainUrl?: (chainUrl: string) => Promise<string>
  readonly env?: Readonly<Record<string, string>>
} = {}) => {
  const chain = await startLocalChain({ host: "127.0.0.1", port: 0, now })
  const upstream = await relayChainUrl(chain.url)
  const keys = await readSigningKeys(await generateSigningKey())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let running: TestProcess | undefined

  const startRelay = async (): Promise<void> => {
    const relay = startProcess(process.execPath, [join(root, "apps/relay/src/main.ts")], {
      env: {
        PORT: String(port),
        SVC_LOG_LEVEL: "info",
        SVC_TRANSACTIONS_ENABLED: "true",
        SVC_TRANSACTION_RPC_URL: upstream,
        SVC_SESSION_PUBLIC_KEY: JSON.stringify(publicJwks(keys)),
        SVC_SESSION_AUDIENCE: "transfers",
        SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: many,
        SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: many,
        SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: many,
        SVC_TRANSACTION_SEND_CONCURRENCY: "512",
        SVC_TRANSACTION_INSPECT_CONCURRENCY: "512",
        ...env,
      },
    })
    await relay.waitFor(/listening/)
    running = relay
  }
  const killRelay = async (): Promise<void> => {
    running?.kill("SIGKILL")
    await running?.exited
  }
  await startRelay()

  /** Signs a token that is so many seconds old. */
  const tokenOf = async (age = 0): Promise<string> => {
    const claims = {
      iss: "svc-platform",
      sub: "agent:test",
      aud: "transfers",
      jti: crypto.randomUUID(),
      scope: "transaction:inspect transaction:send",
      key_class: "secret" as const,
      metering_key: "key:1",
    }
    return (await signSessionToken(keys, claims, Math.floor(Date.now() / 1000) - age)).token
  }
  /** What a session needs of a platform; `age` makes its tokens old. */
  const platform = (age: () => number = () => 0): Pick<Platform, "mintSession"> => ({
    mintSession: async () => ({ token: await tokenOf(age()), expires_at: 0, token_type: "Bearer", scope: "" }),
  })

  return {
    chainUrl: chain.url,
    rpc: createSolanaRpc(chain.url),
    rollback: chain.rollback,
    relayUrl: url,
    platform,
    tokenOf,
    killRelay,
    startRelay,
    stop: async (): Promise<void> => {
      await killRelay()
      await chain.close()
    },
  }
}

export type Services = Awaited<ReturnType<typeof startServices>>
