import type { Logger } from "@svc/program"
import { createReads } from "./reads.ts"
import { createUpstream, type Upstream } from "./upstream.ts"
import { upstreamName } from "../metrics.ts"
import { createRedact } from "./proof.ts"

/**
 * Makes one client for each provider in the settings: reads go to the first one and its fallbacks, sends to one only.
 * @param now a monotonic clock, in milliseconds
 * @param log gets a warning for each failure except a JSON-RPC error
 */
export const openUpstreams = (
  urls: { readonly first: string; readonly fallbacks: readonly string[]; readonly send: string | undefined },
  now: () => number,
  log: Pick<Logger, "warn">,
) => {
  const open = new Map<string, Upstream>()
  const openOne = (url: string, name: string): Upstream => {
    const report = (reason: string, request_id?: string) =>
      log.warn({ request_id, provider: name, reason }, "a call to a provider failed")
    return open.getOrInsertComputed(url, () => createUpstream(url, report))
  }
  const readUrls = [...new Set([urls.first, ...urls.fallbacks])]
  const readers = readUrls.map((url, index) => openOne(url, upstreamName(index)))
  const reads = createReads(readers, now)
  const sender = openOne(urls.send ?? urls.first, "send")
  const first = openOne(urls.first, upstreamName(0))
  const close = async (): Promise<void> => {
    await Promise.all([...open.values()].map((upstream) => upstream.close()))
  }
  /** Reads no longer from this fallback. */
  const exclude = (url: string): void => {
    const index = readUrls.indexOf(url)
    if (index > 0) reads.exclude(index)
  }
  return { first, exclude, reads, sender, redact: createRedact(...open.keys()), close }
}
