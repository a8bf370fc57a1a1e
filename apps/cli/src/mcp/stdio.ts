import { randomUUID } from "node:crypto"
import type { Readable, Writable } from "node:stream"
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server"
import { visibleJson } from "@svc/common/foreign-text"
import { isObject, type JsonObject, parseJson } from "@svc/common/json-object"
import { isDeeper } from "@svc/common/json-text"
import { faultCodes, mostDepth, ownError, ownResult, readMessage, type RpcError, unfitMeta, writtenId } from "@svc/mcp"

/** As much as the SDK's own transport takes. */
const longestLine = 10 * 2 ** 20

/** The SDK accepts only strings and integers as ids: it gets a text that has the client's id in it. No other text begins so. */
const mark = `id-${randomUUID()}-`
const marks = new RegExp(`"${mark}([0-9a-f]*)"`, "g")
const standInFor = (written: string): string => mark + Buffer.from(written).toString("hex")
const withIds = (text: string): string =>
  text.replaceAll(marks, (_, written: string) => Buffer.from(written, "hex").toString())

/** The message with stand-ins for its ids, wherever MCP has one. */
const marked = (line: string, value: unknown, params: JsonObject): JsonObject => {
  const standIn = (path: readonly string[]): string | undefined => {
    const written = writtenId(line, value, path)
    return written === "null" ? undefined : standInFor(written)
  }
  const cancelled = standIn(["params", "requestId"])
  const token = standIn(["params", "_meta", "progressToken"])
  return {
    ...params,
    ...(cancelled !== undefined && { requestId: cancelled }),
    ...(token !== undefined && isObject(params["_meta"]) && { _meta: { ...params["_meta"], progressToken: token } }),
  }
}

/** What the SDK sends, in our words. */
const inOwnWords = (message: JSONRPCMessage): object => {
  if ("error" in message) return { ...message, error: ownError(message.error) }
  return "result" in message ? { ...message, result: ownResult(message.result) } : message
}

/** The SDK's transport over lines of JSON. It responds to each line that isn't a message by itself. */
export const createLines = (input: Readable, output: Writable) => {
  let parts: Uint8Array[] = []
  let size = 0
  /** The requests that have no response yet. */
  const open = new Set<unknown>()
  let allSent = (): void => {}

  // Some clients end a line at more than \n, such as at U+2028, as Node's readline does.
  const write = (json: string): Promise<void> =>
    new Promise((resolve) => void output.write(`${visibleJson(json)}\n`, () => resolve()))
  const fail = (id: string, { code, message }: RpcError): void =>
    void write(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message })}}`)

  const receive = (line: string): void => {
    const isDeep = isDeeper(line, mostDepth)
    const value = isDeep ? undefined : parseJson(line)
    if (value === undefined) {
      const reason = isDeep ? `has more than ${mostDepth} levels of nesting` : "isn't JSON"
      fail("null", { code: faultCodes.parse, message: `The line ${reason}: send one JSON-RPC message a line.` })
      return
    }
    const read = readMessage(value)
    const id = writtenId(line, value)
    if (read.kind === "invalid") {
      fail(id, { code: faultCodes.invalid, message: read.reason })
      return
    }
    const { params, ...rest } = read.kind === "request" ? read.request : read.message
    const message = { jsonrpc: "2.0", ...rest, ...(isObject(params) && { params: marked(line, value, params) }) }
    if (read.kind === "silent") {
      // A response has nothing to respond to: this server asks for nothing.
      if (isJSONRPCNotification(message)) lines.onmessage?.(message)
      return
    }
    const request = { ...message, id: standInFor(id) }
    if (!isJSONRPCRequest(request)) {
      fail(id, unfitMeta)
      return
    }
    open.add(request.id)
    lines.onmessage?.(request)
  }

  const add = (piece: Uint8Array): void => {
    size += piece.length
    parts = size > longestLine ? [] : [...parts, piece]
  }
  const take = (chunk: Buffer): void => {
    let from = 0
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", from)) {
      add(chunk.subarray(from, end))
      const line = size > longestLine ? undefined : new TextDecoder().decode(Buffer.concat(parts))
      ;[parts, size, from] = [[], 0, end + 1]
      if (line !== undefined) receive(line)
      else fail("null", { code: faultCodes.invalid, message: `A line has at most ${longestLine} bytes.` })
    }
    add(chunk.subarray(from))
  }

  /** The last line may end with the stream. */
  const finish = (): void => {
    if (size > 0) take(Buffer.from("\n"))
  }

  const lines: Transport = {
    start: async () => void input.on("data", take).on("end", finish),
    send: async (message) => {
      if (!("method" in message)) open.delete(message.id)
      await write(withIds(JSON.stringify(inOwnWords(message))))
      if (open.size === 0) allSent()
    },
    close: async () => {
      input.off("data", take).off("end", finish).pause()
      lines.onclose?.()
    },
  }
  return {
    transport: lines,
    /** Until all requests have a response, but no longer than so many milliseconds. */
    responses: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        allSent = resolve
        if (open.size === 0) resolve()
        else setTimeout(resolve, ms)
      }),
  }
}
