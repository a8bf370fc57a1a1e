import { z } from "zod"
import type { RpcRequest } from "./json-rpc.ts"
import { createMemo } from "@svc/common/memo"
import { type Era, eraOf, type SdkExchange } from "./sdk-exchange.ts"
import { type Library, toCallResult, tools } from "./tools.ts"

/** The answer to one JSON-RPC request: a body, or the SDK's stream of events. */
type RpcReply =
  | { readonly status: number; readonly body: string | Uint8Array<ArrayBuffer> }
  | { readonly stream: Response }

/** The HTTP request around a message. What is costly to make of it is made when asked for. */
export type Caller = {
  readonly header: (name: string) => string | undefined
  readonly request: () => Pick<Request, "headers" | "signal">
  /** Whether its word on which traces are kept counts. */
  readonly trustsTraces: () => boolean
  /** Length of the body in characters. */
  readonly size: number
}

export type RpcEndpoint = (request: RpcRequest, caller: Caller) => Promise<RpcReply>

const versionKey = "io.modelcontextprotocol/protocolVersion"
// Larger requests are rare, and their text would cost more as a key than the answer is worth.
const memorableBytes = 4096
const nameFields: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "resources/read": "uri",
  "prompts/get": "name",
}
const metaSchema = z.record(z.string(), z.unknown())

/**
 * Whether the headers that 2026-07-28 wants say plainly what the body says. Whatever is less plain than that (padding,
 * Base64, a header too few) is left to the SDK to judge.
 */
const headersAgree = ({ method, params }: RpcRequest, header: Caller["header"]): boolean => {
  const meta = metaSchema.safeParse(params?.["_meta"])
  if (!meta.success || header("mcp-protocol-version") !== meta.data[versionKey]) return false
  if (header("mcp-method") !== method) return false
  const field = Object.hasOwn(nameFields, method) ? nameFields[method] : undefined
  return field === undefined || header("mcp-name") === params?.[field]
}

const afterResult = Buffer.from("}")
// Results are kept as bytes: most have a character outside Latin-1, and would be encoded for each response.
const success = (idText: string, result: Buffer): RpcReply => ({
  status: 200,
  body: Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":`), result, afterResult]),
})

const failure = (idText: string, status: number, error: unknown): RpcReply => ({
  status,
  body: `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(error)}}`,
})

/** Answers by the SDK alone: right for any server, and what the short cuts below are measured against. */
export const createSdkEndpoint =
  (sdk: SdkExchange): RpcEndpoint =>
  async (request, caller) => {
    const era = eraOf(request, caller.header("mcp-protocol-version"))
    const answer = await sdk.send(request, era, caller.request)
    if (answer.kind === "stream") return { stream: answer.response }
    if (answer.kind === "result") return success(request.idText, Buffer.from(JSON.stringify(answer.result)))
    return failure(request.idText, era === "modern" ? answer.status : 200, answer.error)
  }

/** What the SDK adds to the results of one kind of caller, besides what the tool answered. */
type Frame = Readonly<Record<string, unknown>>

const callKeys = new Set(["name", "arguments", "_meta"])

const traceFields = new Set(["traceparent", "tracestate", "baggage"])

/** The same params without what their `_meta` says of a trace: that changes no answer, and is new in each request. */
const untraced = (params: RpcRequest["params"]): RpcRequest["params"] => {
  if (params?.["_meta"] === undefined) return params
  const meta = metaSchema.safeParse(params?.["_meta"])
  if (!meta.success || !Object.keys(meta.data).some((field) => traceFields.has(field))) return params
  const rest = Object.entries(meta.data).filter(([field]) => !traceFields.has(field))
  const { _meta, ...others } = params ?? {}
  return rest.length === 0 ? others : { ...params, _meta: Object.fromEntries(rest) }
}

/**
 * Answers from memory where that can't be told from the SDK's answer. The server is stateless and read-only, so an answer
 * depends on the era, the method and the params alone: results of the SDK are kept under exactly those. A tool call that
 * was never seen is answered by the tool itself, framed as the SDK framed one for the same `_meta` before.
 */
export const createEndpoint = (sdk: SdkExchange, library: () => Library): RpcEndpoint => {
  const bySdk = createSdkEndpoint(sdk)
  // Most questions are asked once: their answers would only drive the others out.
  const results = createMemo<Buffer>({
    maxEntries: 2000,
    maxSize: 32 * 2 ** 20,
    sizeOf: (result) => result.length,
    fromSecondTime: true,
  })
  const frames = createMemo<Frame>({ maxEntries: 200 })
  let current = library()

  const callTool = (era: Era, params: RpcRequest["params"]): Buffer | undefined => {
    const tool = tools.find(({ name }) => name === params?.["name"])
    const frame = frames.get(`${era} ${JSON.stringify(params?.["_meta"])}`)
    if (tool === undefined || frame === undefined || !Object.keys(params ?? {}).every((key) => callKeys.has(key)))
      return undefined
    const answer = tool.call(current, params?.["arguments"] ?? {})
    return answer === undefined ? undefined : Buffer.from(JSON.stringify({ ...toCallResult(answer), ...frame }))
  }

  const learnFrame = (era: Era, params: RpcRequest["params"], result: unknown): void => {
    const {
      content: _content,
      structuredContent: _structured,
      isError,
      ...frame
    } = Object(result) as Record<string, unknown>
    if (isError !== true) frames.set(`${era} ${JSON.stringify(params?.["_meta"])}`, frame)
  }

  return async (request, caller) => {
    if (library() !== current) {
      current = library()
      results.clear()
    }
    const { method, idText } = request
    const params = untraced(request.params)
    const era = eraOf(request, caller.header("mcp-protocol-version"))
    if (caller.size > memorableBytes || (era === "modern" && !headersAgree(request, caller.header)))
      return bySdk(request, caller)
    const key = `${era} ${method} ${JSON.stringify(params)}`
    const kept = results.get(key)
    if (kept !== undefined) return success(idText, kept)
    if (method === "tools/call") {
      const result = callTool(era, params)
      if (result !== undefined) {
        results.set(key, result)
        return success(idText, result)
      }
    }
    const before = current
    const answer = await sdk.send(request, era, caller.request)
    if (answer.kind === "stream") return { stream: answer.response }
    if (answer.kind === "error") return failure(idText, era === "modern" ? answer.status : 200, answer.error)
    const result = Buffer.from(JSON.stringify(answer.result))
    if (method === "tools/call") learnFrame(era, params, answer.result)
    // The pages may have been read again while the SDK was at work.
    if (library() === before) results.set(key, result)
    return success(idText, result)
  }
}
