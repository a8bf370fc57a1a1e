// `pnpm bench relay`: the relay, with signed tokens, against a pass-through of Hono and undici; with limits that replicas share
// against its own; and with telemetry against without.
import { createBenchmarkTable, type LoadTarget } from "@svc/testing"
import { z } from "zod"
import { compare, compareTelemetry, finish } from "./compare.ts"
import { openGround, type Replica, transfersUrl } from "./ground.ts"

const ground = await openGround()
const table = createBenchmarkTable()
const platform = await ground.platform()
await ground.publishTransfers()
const relay = await ground.relay(platform.url)
const passThrough = await ground.peer("relay", "bench/pass-through.ts", { PROVIDER: ground.providerUrl })

const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> => {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  }
  return (await fetch(platform.url + path, init)).json()
}
const { api_key: key } = z.object({ api_key: z.string() }).parse(await post("/api/agents/signup", {}))
const session = { websocket_url: transfersUrl, scope: "transaction:inspect transaction:send" }
/** A target of the relay's, with its own token, because tokens expire. */
const target = async ({ url, child }: Replica, route: string, body: object): Promise<LoadTarget> => {
  const minted = await post("/ws/sessions", session, { authorization: `Bearer ${key}` })
  const { token } = z.object({ token: z.string() }).parse(minted)
  const headers = { authorization: `Bearer ${token}` }
  return { url: `${url}/transactions/v1/${route}`, pid: child.pid, headers, body: JSON.stringify(body) }
}
const rpc = (method: string, params: unknown[]): LoadTarget => ({
  ...passThrough,
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
})

// As large as a packet: one signature of any bytes, and a message that nobody checks here.
const transaction = Buffer.concat([Buffer.from([1]), Buffer.alloc(1231, 7)]).toString("base64")
const blockhash = rpc("getLatestBlockhash", [{ commitment: "confirmed" }])
const send = rpc("sendTransaction", [transaction, { encoding: "base64" }])
await compare(table, "latest-blockhash", { atLeast: 0.6 }, await target(relay, "latest-blockhash", {}), blockhash)
await compare(table, "send of 1,232 bytes", { atLeast: 0.65 }, await target(relay, "send", { transaction }), send)
const shared = await ground.relay(platform.url, ground.limits)
const [counted, alone] = [await target(shared, "latest-blockhash", {}), await target(relay, "latest-blockhash", {})]
await compare(table, "limits shared in a store to limits of the process", undefined, counted, alone)
const { headers, body } = await target(relay, "latest-blockhash", {})
await compareTelemetry(
  table,
  (env) => ground.relay(platform.url, env),
  ({ url, child }) => ({
    url: `${url}/transactions/v1/latest-blockhash`,
    pid: child.pid,
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { body }),
  }),
)
await ground.stop()
finish(table)
