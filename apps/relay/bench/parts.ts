// What the relay's benchmarks have in common: a provider, a token, relays without limits worth the name.
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { generateSigningKey, publicJwks, readSigningKeys, signSessionToken } from "@svc/session-token"
import { freePort, startProcess, type TestProcess } from "@svc/testing"

export const options = { connections: 32, seconds: Number(process.env["SVC_BENCH_SECONDS"] ?? 2) }

export const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
export const portOf = async (child: TestProcess): Promise<number> => Number((await child.waitFor(/"port":(\d+)/))[1])

const keys = await readSigningKeys(await generateSigningKey())
const claims = {
  iss: "svc-platform",
  sub: "agent:bench",
  aud: "transfers",
  jti: "00000000-0000-4000-8000-000000000000",
  scope: "transaction:inspect transaction:send",
  key_class: "secret" as const,
  metering_key: "key:1",
}
const { token } = await signSessionToken(keys, claims, Math.floor(Date.now() / 1000))
export const headers = { authorization: `Bearer ${token}` }

export const provider = startProcess(process.execPath, [file("canned-rpc.ts")])
export const providerUrl = `http://127.0.0.1:${await portOf(provider)}`
const many = "1000000000"
export const startRelay = async (env: Record<string, string> = {}) => {
  const port = await freePort()
  const child = startProcess(process.execPath, [file("../src/main.ts")], {
    env: { ...settings, ...env, PORT: String(port) },
    mute: true,
  })
  const healthy = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.status === 200
  while (!(await healthy())) await setTimeout(20)
  return { child, port, url: `http://127.0.0.1:${port}/transactions/v1` }
}
const settings = {
  SVC_TRANSACTIONS_ENABLED: "true",
  SVC_TRANSACTION_RPC_URL: providerUrl,
  SVC_SESSION_PUBLIC_KEY: JSON.stringify(publicJwks(keys)),
  SVC_SESSION_AUDIENCE: "transfers",
  SVC_TRANSACTION_INSPECT_REQUESTS_PER_MINUTE: many,
  SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: many,
  SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: many,
  SVC_TRANSACTION_SEND_CONCURRENCY: "32",
}
