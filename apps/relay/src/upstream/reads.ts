import { providerSpan } from "../metrics.ts"
import type { Upstream, UpstreamAnswer } from "./upstream.ts"
import type { UpstreamFailure } from "./errors.ts"

/** A call that asks and changes nothing. */
type Read<Value> = {
  /** The provider's method. */
  readonly method: string
  /** Largest answer of the provider, in bytes. */
  readonly maxAnswerBytes: number
  /** Makes the answer of the provider's result; throws when that is malformed. */
  readonly read: (result: unknown) => Value
}

/** What came of a read: the route's answer, or why there is none. */
type ReadAnswer<Value> = { readonly kind: "value"; readonly value: Value } | UpstreamFailure

const lastForMs = 10_000
const failing = new Set([401, 403, 404, 408, 429])

// A JSON-RPC error is an answer, unless the status it came with says that this upstream serves nobody, or not us.
const isWorthAnother = (answer: ReadAnswer<unknown>): boolean => {
  if (answer.kind === "value") return false
  if (answer.kind !== "rpc-error" && answer.kind !== "http-error") return true
  return failing.has(answer.status) || answer.status >= 500
}

/**
 * Makes the reads over a first upstream and its fallbacks. One that failed is asked last for 10 s, of several the one whose
 * failure is oldest first; its next answer clears that.
 * @param now a monotonic clock, in milliseconds
 */
export const createReads = (upstreams: readonly Upstream[], now: () => number) => {
  const failedAt = upstreams.map(() => -Infinity)
  let answering = 0

  const inOrder = (): number[] => {
    const time = now()
    const placeOf = (index: number): number => {
      const at = failedAt[index] ?? -Infinity
      return time - at < lastForMs ? at : -Infinity
    }
    // The sort is stable: those without a recent failure stay as configured, ahead of the others.
    // Two of them have equal places, whose difference isn't a number.
    return upstreams.map((_, index) => index).sort((a, b) => placeOf(a) - placeOf(b) || 0)
  }

  const askOne = <Value>(
    upstream: Upstream,
    { method, maxAnswerBytes, read }: Read<Value>,
    params: readonly unknown[],
    timeoutMs: number,
  ) =>
    providerSpan(method, async () => {
      const answer = await upstream.call({ method, params, timeoutMs, maxAnswerBytes })
      if (answer.kind !== "result") return answer
      try {
        return { kind: "value", value: read(answer.result) } as const
      } catch {
        return { kind: "malformed" } as const
      }
    })

  return {
    count: upstreams.length,
    /** Which upstream gave the last answer: 0 for the first, 1 for the first fallback, and so on. */
    answering: () => answering,
    /**
     * Asks the upstreams in turn until one answers, all within `timeoutMs`; gives the last one's failure when none does.
     * @param onAnswer told what came of each call
     */
    ask: async <Value>(
      read: Read<Value>,
      params: readonly unknown[],
      timeoutMs: number,
      onAnswer: (kind: UpstreamAnswer["kind"]) => void,
    ): Promise<ReadAnswer<Value>> => {
      const deadline = now() + timeoutMs
      const order = inOrder()
      let answer: ReadAnswer<Value> = { kind: "malformed" }
      for (const [asked, index] of order.entries()) {
        const upstream = upstreams[index]
        if (upstream === undefined) continue
        // The first one's share is counted from the whole: the clock has not moved yet.
        const share = asked === 0 ? timeoutMs / order.length : (deadline - now()) / (order.length - asked)
        answer = await askOne(upstream, read, params, Math.max(1, share))
        onAnswer(answer.kind === "value" ? "result" : answer.kind)
        if (!isWorthAnother(answer)) {
          if (answer.kind === "value" || answer.kind === "rpc-error") {
            failedAt[index] = -Infinity
            answering = index
          }
          break
        }
        failedAt[index] = now()
      }
      return answer
    },
  }
}

export type Reads = ReturnType<typeof createReads>
