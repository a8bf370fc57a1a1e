import { z } from "zod"

const listed = z.array(z.object({ name: z.string(), version: z.number(), content_hash: z.string() }))
const answered = z.object({ ast_payload: z.unknown() })

export type PublishedStack = { readonly name: string; readonly version: number; readonly ast: unknown }

export type RegistryReader = {
  readonly fetch: typeof globalThis.fetch
  /** A stack is new or has another version. */
  readonly onStack: (stack: PublishedStack) => void
  readonly onGone: (name: string) => void
  readonly onProblem: (reason: string) => void
  readonly sleep: (ms: number) => Promise<void>
  readonly signal: AbortSignal
}

const pollMs = 1_000
const timeoutMs = 5_000

/** Follows the public stacks of a platform until the signal aborts: asks every second whether a page of the list changed. */
export const followRegistry = async (
  apiUrl: string,
  reader: RegistryReader & { onLoaded: () => void },
): Promise<void> => {
  const { fetch, onStack, onGone, onLoaded, onProblem, sleep, signal } = reader
  const versions = new Map<string, string>()
  const pages = new Map<string, { etag: string; stacks: z.infer<typeof listed>; next: string | undefined }>()

  const get = async (url: string, headers: Record<string, string> = {}): Promise<Response> => {
    const response = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(timeoutMs) })
    if (!response.ok && response.status !== 304) throw new Error(`${new URL(url).pathname}: status ${response.status}`)
    return response
  }

  const readPage = async (url: string) => {
    const known = pages.get(url)
    const response = await get(url, known && { "if-none-match": known.etag })
    if (known !== undefined && response.status === 304) return known
    const next = /<([^>]+)>\s*;\s*rel="?next"?/.exec(response.headers.get("link") ?? "")?.[1]
    const page = {
      etag: response.headers.get("etag") ?? "",
      stacks: listed.parse(await response.json()),
      next: next === undefined ? undefined : new URL(next, url).href,
    }
    pages.set(url, page)
    return page
  }

  const look = async (): Promise<void> => {
    const stacks: z.infer<typeof listed> = []
    for (let url: string | undefined = `${apiUrl}/api/registry?limit=100`; url !== undefined;) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(url)
      stacks.push(...page.stacks)
      url = page.next
    }
    for (const { name, version, content_hash } of stacks) {
      const label = `${version} ${content_hash}`
      if (versions.get(name) === label) continue
      const response = await get(`${apiUrl}/api/registry/stacks/${encodeURIComponent(name)}/ast`)
      onStack({ name, version, ast: answered.parse(await response.json()).ast_payload })
      versions.set(name, label)
    }
    const gone = [...versions.keys()].filter((name) => !stacks.some((stack) => stack.name === name))
    for (const name of gone) if (versions.delete(name)) onGone(name)
    onLoaded()
  }

  while (!signal.aborted) {
    await look().catch((error: unknown) => onProblem(error instanceof Error ? error.message : String(error)))
    await sleep(pollMs)
  }
}
