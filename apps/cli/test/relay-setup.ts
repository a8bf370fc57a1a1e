import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { startLocalChain } from "@svc/local-chain"
import { createWallet } from "@svc/testing/wallet"
import { type FaultProxyOptions, freePort, startFaultProxy, startProcess } from "@svc/testing"
import { afterAll } from "vitest"
import { startServer, type Reply } from "./server.ts"
import { makeTool } from "./tool.ts"

/**
 * The bundled tool, a platform that mints any token, the real relay and a local chain whose time the test moves, until the file's
 * tests are done.
 * @param choose what a proxy between the relay and the chain does to a request
 */
export const startRelaySetup = async (choose: FaultProxyOptions["choose"] = () => undefined) => {
  let ahead = 0
  const tool = await makeTool()
  const chain = await startLocalChain({ host: "127.0.0.1", port: 0, now: () => Date.now() + ahead })
  const wallet = await createWallet(chain.url)
  await wallet.fund(5_000_000_000n)
  const provider = await startFaultProxy({ target: chain.url, choose })
  const websocket_url = "wss://stack.example/transfers"
  const platform = await startServer(({ target }): Reply => {
    if (target.startsWith("/api/registry?")) return { body: [{ name: "transfers", websocket_url, relay: true }] }
    if (target === "/api/registry/transfers") return { body: { name: "transfers", websocket_url } }
    if (target === "/ws/sessions") return { body: { token: "any", expires_at: 1, token_type: "Bearer", scope: "" } }
    return { status: 404, body: { error: "There is no such stack.", code: "stack-not-found" } }
  })
  const port = await freePort()
  // Without keys it serves its own machine, whatever the token.
  const relay = startProcess(process.execPath, [join(import.meta.dirname, "../../relay/src/main.ts")], {
    env: { PORT: String(port), SVC_TRANSACTIONS_ENABLED: "true", SVC_TRANSACTION_RPC_URL: provider.url },
  })
  await relay.waitFor(/listening/)
  const relayUrl = `http://127.0.0.1:${port}`
  const env = {
    HOME: tool.home,
    XDG_CONFIG_HOME: join(tool.home, "config"),
    SVC_API_URL: platform.url,
    SVC_API_KEY: "svc_ak_test",
    SVC_RELAY_URL: relayUrl,
  }
  afterAll(async () => {
    relay.kill("SIGKILL")
    await relay.exited
    await provider.close()
    await chain.close()
  })
  return {
    tool,
    platform,
    wallet: {
      ...wallet,
      /** A signed transfer to somebody new, unless told to whom. */
      transfer: async (amount = 1_000_000n, blockhash?: string, recipient?: string) => {
        const to = recipient ?? (await wallet.newAddress())
        const latest = blockhash === undefined ? undefined : { blockhash }
        const { wire: base64, signature } = await wallet.signTransfer(amount, latest, { to })
        return { base64, signature }
      },
    },
    env,
    svc: (args: readonly string[], stdin = "") => tool.svc(args, { env, stdin }),
    skip: (ms: number): void => void (ahead += ms),
    /**
     * Lets minutes pass on the chain in each second until the promise settles; with signatures only once those have landed, so that
     * their blockhashes don't expire on a slow machine.
     */
    inFastTime: async <Value>(promise: Promise<Value>, ...signatures: readonly string[]): Promise<Value> => {
      const ended = new AbortController()
      const passing = async (): Promise<void> => {
        for (; !ended.signal.aborted; await pause(40)) {
          if ((await Promise.all(signatures.map(wallet.hasLanded))).every(Boolean)) ahead += 4000
        }
      }
      const [value] = await Promise.all([promise.finally(() => ended.abort()), passing()])
      return value
    },
  }
}
