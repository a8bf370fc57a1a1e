import { createReads } from "./reads.ts"
import { createUpstream, type Upstream } from "./upstream.ts"
import { createRedact } from "./errors.ts"

/**
 * Opens one way to each provider that the settings name: reads go to the first and to its fallbacks, sends to one alone.
 * @param now a monotonic clock, in milliseconds
 */
export const openUpstreams = (
  urls: { readonly first: string; readonly fallbacks: readonly string[]; readonly send: string | undefined },
  now: () => number,
) => {
  const open = new Map<string, Upstream>()
  const at = (url: string): Upstream => {
    const upstream = open.get(url) ?? createUpstream(url)
    open.set(url, upstream)
    return upstream
  }
  const first = at(urls.first)
  const reads = createReads([...new Set([urls.first, ...urls.fallbacks])].map(at), now)
  const sender = at(urls.send ?? urls.first)
  const close = async (): Promise<void> => {
    await Promise.all([...open.values()].map((upstream) => upstream.close()))
  }
  return { first, reads, sender, redact: createRedact(...open.keys()), close }
}
