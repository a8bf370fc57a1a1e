import { parseExactly, writeExactly } from "@svc/common/exact-json"
import { readBody, serve } from "@svc/http"
import { BodyError } from "@svc/errors"
import { createLocalChain } from "./chain.ts"
import { errorResponse, RpcError } from "./rpc.ts"

const limit = 1_048_576
const deadlineMs = 10_000
const drainMs = 2_000

// Pages of any origin may call a development node, as they may call a validator.
const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
}

const integer = /^-?(0|[1-9][0-9]*)$/
// No field of the RPC has more digits than a u128, and parsing a bigint of a million digits is slow.
const mostDigits = 40
/** Parses JSON; an integer that a double cannot hold becomes a bigint instead of a nearby number. Throws SyntaxError. */
const parseJson = (text: string): unknown =>
  parseExactly(text, (source, value) => {
    if (!integer.test(source)) return value
    if (source.length > mostDigits) throw new SyntaxError(`an integer of more than ${mostDigits} digits`)
    return BigInt(source)
  })

const plain = (status: number, body: string, headers: Record<string, string> = {}): Response =>
  new Response(body, { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers } })

const json = (answer: unknown): Response =>
  new Response(writeExactly(answer), { headers: { "content-type": "application/json" } })

/**
 * Starts a local chain behind HTTP: POST is JSON-RPC, `GET /health` returns "ok". Port 0 selects a free port. `close` waits
 * two seconds for open requests. Rejects if it can't listen.
 * @example
 * ```ts
 * const { url, close } = await startLocalChain({ host: "127.0.0.1", port: 0, now: Date.now })
 * ```
 */
export const startLocalChain = async (settings: { host: string; port: number; now: () => number }) => {
  const { host, now } = settings
  const chain = createLocalChain({ now })

  const rpc = (body: Uint8Array): Response => {
    let request: unknown
    try {
      request = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body))
    } catch {
      return json(errorResponse(null, new RpcError("parse", "Parse error")))
    }
    const answer = chain.handle(request)
    return answer === undefined ? new Response(null, { status: 204 }) : json(answer)
  }

  const server = await serve({ ...settings, drainMs, headers: cors })
  server.handle(async (request, env) => {
    const { url, headers } = env.incoming
    if (request.method === "OPTIONS") return new Response(null, { status: 204 })
    if (request.method === "GET" && url === "/health") return plain(200, "ok")
    if (request.method !== "POST") {
      return plain(405, "This is a JSON-RPC endpoint: use POST.\n", { allow: "POST, OPTIONS" })
    }
    if (!/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "")) {
      return plain(415, "Content-Type: application/json is required.\n")
    }
    try {
      return rpc(await readBody({ env }, { limit, deadlineMs }))
    } catch (error) {
      if (!(error instanceof BodyError)) throw error
      const isTooLarge = error.fault.kind === "too-large"
      const message = isTooLarge ? `A request holds at most ${limit} bytes.` : "The body took too long."
      return plain(isTooLarge ? 413 : 408, `${message}\n`, { connection: "close" })
    }
  })

  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    /** Drops the newest block's transactions, as a validator that leaves a fork does. Returns how many. */
    rollback: chain.rollback,
    close: server.close,
  }
}
