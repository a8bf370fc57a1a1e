// `pnpm bench relay`: the relay, with signed tokens, against a peer with the same duties, and against a pass-through of Hono and undici; with limits that replicas share
// against its own; and with telemetry against without.
import { createPlatform } from "@svc/client"
import { createBenchmarkTable, type LoadTarget } from "@svc/testing"
import { compare, compareTelemetry, finish } from "./compare.ts"
import { openGround, transfersUrl } from "./ground.ts"

const ground = await openGround()
const table = createBenchmarkTable()
const platform = await ground.platform()
await ground.publishTransfers()
const relay = await ground.relay(platform.url)
const service = { url: relay.url, pid: relay.child.pid }
const peer = await ground.peer("relay", "../../bench/relay-peer.ts", {
  PROVIDER: ground.providerUrl,
  PLATFORM: platform.url,
})
const passThrough = await ground.peer("relay", "bench/pass-through.ts", { PROVIDER: ground.providerUrl })

const { api_key: key } = await createPlatform({ apiUrl: platform.url }).signUp()
const { mintSession } = createPlatform({ apiUrl: platform.url, key })
const scope = "transaction:inspect transaction:send"
/** A target at the relay, with its own token, because tokens expire. */
const target = async (
  { url, pid }: Pick<LoadTarget, "url" | "pid">,
  route: string,
  body: object,
): Promise<LoadTarget> => {
  const { token } = await mintSession({ websocket_url: transfersUrl, scope })
  const headers = { authorization: `Bearer ${token}` }
  return { url: `${url}/transactions/v1/${route}`, pid, headers, body: JSON.stringify(body) }
}
const rpc = (method: string, params: unknown[]): LoadTarget => ({
  ...passThrough,
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
})

// As large as a packet: one signature of any bytes, and a message that isn't checked here.
const transaction = Buffer.concat([Buffer.from([1]), Buffer.alloc(1231, 7)]).toString("base64")
const provider = {
  "latest-blockhash": rpc("getLatestBlockhash", [{ commitment: "confirmed" }]),
  send: rpc("sendTransaction", [transaction, { encoding: "base64" }]),
}
for (const [route, given, goal] of [
  ["latest-blockhash", {}, 2.2],
  ["send", { transaction }, 2],
] as const) {
  const [ours, same] = [await target(service, route, given), await target(peer, route, given)]
  await compare(table, `${route}, to the peer`, { atLeast: goal }, ours, same)
  await compare(table, `${route}, to a pass-through`, undefined, ours, provider[route])
}
const shared = await ground.relay(platform.url, ground.limits)
const counted = await target({ url: shared.url, pid: shared.child.pid }, "latest-blockhash", {})
const alone = await target(service, "latest-blockhash", {})
await compare(table, "limits shared in a store to limits of the process", undefined, counted, alone)
const { headers, body } = await target(service, "latest-blockhash", {})
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
