import { z } from "zod"
import { providerSpan } from "../metrics.ts"
import type { Upstream, UpstreamResponse } from "./upstream.ts"
import { proofOf, type UpstreamFailure } from "./proof.ts"

/** A call that changes nothing. */
type Read<Value> = {
  /** The provider's method. */
  readonly method: string
  /** Maximum size of the provider's response, in bytes. */
  readonly maxResponseBytes: number
  readonly requestId?: string | undefined
  /** Makes the route's value from the provider's result. Throws if the result is malformed. */
  readonly read: (result: unknown) => Value
}

/** The outcome of a read: the route's value, or the failure. */
type ReadOutcome<Value> = { readonly kind: "value"; readonly value: Value } | UpstreamFailure

const lastForMs = 10_000

const isWorthAnother = (response: ReadOutcome<unknown>): boolean =>
  response.kind !== "value" && proofOf(response).askNext

/**
 * Makes the reads of a first upstream and its fallbacks. An upstream that failed is asked last for 10 s; of several, the one
 * with the oldest failure is asked first. Its next success ends that.
 * @param now a monotonic clock, in milliseconds
 */
export const createReads = (upstreams: readonly Upstream[], now: () => number) => {
  const failedAt = upstreams.map(() => -Infinity)
  const excluded = new Set<number>()
  let answering = 0

  const inOrder = (): number[] => {
    const time = now()
    const placeOf = (index: number): number => {
      const at = failedAt[index] ?? -Infinity
      return time - at < lastForMs ? at : -Infinity
    }
    // The sort is stable: upstreams without a recent failure keep the order of the settings, before the others. The
    // difference of two of their places is NaN.
    const asked = upstreams.map((_, index) => index).filter((index) => !excluded.has(index))
    return asked.sort((a, b) => placeOf(a) - placeOf(b) || 0)
  }

  const askOne = <Value>(
    upstream: Upstream,
    { method, maxResponseBytes, requestId, read }: Read<Value>,
    params: readonly unknown[],
    timeoutMs: number,
  ) =>
    providerSpan(method, async () => {
      const response = await upstream.call({ method, params, timeoutMs, maxResponseBytes, requestId })
      if (response.kind !== "result") return response
      try {
        return { kind: "value", value: read(response.result) } as const
      } catch (error) {
        const path = error instanceof z.ZodError ? error.issues[0]?.path.join(".") : undefined
        upstream.report(`the result of ${method} isn't valid${path ? ` at ${path}` : ""}`, requestId)
        return { kind: "malformed" } as const
      }
    })

  return {
    count: upstreams.length,
    /** Which upstream responded last: 0 is the first, 1 the first fallback, and so on. */
    answering: () => answering,
    /** Never asks this one again: what it says is about another chain. */
    exclude: (index: number): void => void excluded.add(index),
    /**
     * Asks one upstream after the other until one responds, all within `timeoutMs`. Returns the last failure if none does.
     * @param onResponse called with the outcome of each call
     */
    ask: async <Value>(
      read: Read<Value>,
      params: readonly unknown[],
      timeoutMs: number,
      onResponse: (kind: UpstreamResponse["kind"]) => void,
    ): Promise<ReadOutcome<Value>> => {
      const deadline = now() + timeoutMs
      const order = inOrder()
      let response: ReadOutcome<Value> = { kind: "malformed" }
      for (const [asked, index] of order.entries()) {
        const upstream = upstreams[index]
        if (upstream === undefined) continue
        // The first one's share is a part of the whole time: the clock hasn't moved yet.
        const share = asked === 0 ? timeoutMs / order.length : (deadline - now()) / (order.length - asked)
        response = await askOne(upstream, read, params, Math.max(1, share))
        onResponse(response.kind === "value" ? "result" : response.kind)
        if (!isWorthAnother(response)) {
          if (response.kind === "value" || response.kind === "rpc-error") {
            failedAt[index] = -Infinity
            answering = index
          }
          break
        }
        failedAt[index] = now()
      }
      return response
    },
  }
}

export type Reads = ReturnType<typeof createReads>
