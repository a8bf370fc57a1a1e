import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import type { Answer, Lie } from "./fault-proxy.ts"

// What providers of a Solana chain say that isn't so, and how they say what is so.

type Status = { readonly slot: number; readonly confirmations: number | null; readonly confirmationStatus: string }
type View = { readonly context: { readonly slot: number }; readonly value: unknown }
type Response = { readonly id: number; readonly result?: unknown }

const behind = 40

const write = (answer: Answer, body: unknown): Answer => ({ ...answer, body: Buffer.from(JSON.stringify(body)) })
const changed = (answer: Answer, change: (result: unknown) => unknown): Answer => {
  const response = JSON.parse(answer.body.toString()) as Response
  return response.result === undefined ? answer : write(answer, { ...response, result: change(response.result) })
}
const resultBy = (change: (result: unknown) => unknown): Lie => ({
  answer: async (_, pass) => changed(await pass(), change),
})
const withValue = (value: unknown): Lie => resultBy((result) => ({ ...(result as View), value }))
/** Passes the request on, and answers with this error all the same. */
const errorOf = (error: object, status = 200): Lie => ({
  answer: async (body, pass) => {
    const { id } = JSON.parse(body) as Response
    return write({ ...(await pass()), status }, { jsonrpc: "2.0", id, error })
  },
})
const compressed = (encoding: string, compress: (body: Buffer) => Buffer): Lie => ({
  answer: async (_, pass) => {
    const { headers, ...answer } = await pass()
    return { ...answer, headers: { ...headers, "content-encoding": encoding }, body: compress(answer.body) }
  },
})

const statusAt = (status: Status | null, slot: number): Status | null => {
  if (status === null || status.slot > slot) return null
  const depth = slot - status.slot
  const confirmationStatus = depth > 31 ? "finalized" : depth > 0 ? "confirmed" : "processed"
  return { ...status, confirmations: depth > 31 ? null : depth, confirmationStatus }
}
const earlier = (result: unknown): unknown => {
  if (typeof result === "number") return result - behind
  if (typeof result !== "object" || result === null || !("context" in result)) return result
  const { context, value } = result as View
  const slot = context.slot - behind
  const view = { ...result, context: { ...context, slot } }
  if (Array.isArray(value)) return { ...view, value: value.map((status: Status | null) => statusAt(status, slot)) }
  if (typeof value !== "object" || value === null || !("lastValidBlockHeight" in value)) return view
  return { ...view, value: { ...value, lastValidBlockHeight: Number(value.lastValidBlockHeight) - behind } }
}

/** Each with the methods that it is about; the others are answered as they are. */
export const providerLies = {
  "has lost its history": [["getSignatureStatuses"], withValue([null])],
  "doesn't know the blockhash": [["getFeeForMessage"], withValue(null)],
  "simulates without the blockhash": [
    ["simulateTransaction"],
    resultBy((result) => {
      const { value, ...view } = result as View
      return { ...view, value: { ...Object(value), err: "BlockhashNotFound", logs: [] } }
    }),
  ],
  "has no getFeeForMessage": [["getFeeForMessage"], errorOf({ code: -32601, message: "Method not found" })],
  "lags behind": [
    ["getBlockHeight", "getFeeForMessage", "getLatestBlockhash", "getSignatureStatuses", "simulateTransaction"],
    resultBy(earlier),
  ],
  "says that it has a copy already": [
    ["sendTransaction"],
    errorOf({ code: -32602, message: "bundle contains an already processed transaction" }),
  ],
  "says so in a program's log": [
    ["sendTransaction"],
    errorOf({
      code: -32002,
      message: "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1",
      data: { err: { InstructionError: [0, { Custom: 1 }] }, logs: ["Program log: handed to the leader"] },
    }),
  ],
  "limits the rate of what it took": [["sendTransaction"], errorOf({ code: -32429, message: "rate limited" })],
  "fails after it took it": [["sendTransaction"], errorOf({ code: -32602, message: "duplicate" }, 500)],
  "compresses with gzip": [undefined, compressed("gzip", gzipSync)],
  "compresses with deflate": [undefined, compressed("deflate", deflateSync)],
  "compresses with br": [undefined, compressed("br", brotliCompressSync)],
} as const satisfies Record<string, readonly [methods: readonly string[] | undefined, lie: Lie]>

/** The method of a JSON-RPC request. */
export const methodOf = (body: string): string => (JSON.parse(body) as { readonly method: string }).method

/** The lies about a method. */
export const liesAbout = (method: string): readonly Lie[] =>
  Object.values(providerLies).flatMap(([methods, lie]) =>
    methods === undefined || (methods as readonly string[]).includes(method) ? [lie] : [],
  )
