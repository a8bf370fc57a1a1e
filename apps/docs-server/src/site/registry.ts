import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises"
import { readAtMost } from "@svc/common/read-at-most"
import type { Logger, Runtime } from "@svc/program"
import {
  changeSchema,
  minuteOf,
  type Stack,
  type StackChange,
  stackMarkdown,
  stackSchema,
  stacksMarkdown,
} from "@svc/site"
import { z } from "zod"
import { hashOf, type Page, readPage } from "../corpus/corpus.ts"

/** What can be shown of a list: one entry that can't be hides no other. */
const readable = <T extends z.ZodType>(schema: T, entries: readonly unknown[]): z.infer<T>[] =>
  entries.flatMap((entry) => {
    const { success, data } = schema.safeParse(entry)
    return success ? [data] : []
  })

/** The public stacks as they were read last, and whether these are all; `version` changes with any of them. */
type RegistryCopy = {
  readonly isWhole: boolean
  readonly stacks: ReadonlyMap<string, Stack>
  readonly pages: ReadonlyMap<string, Page>
  readonly changes: readonly StackChange[]
  readonly version: string
}

export type Registry = ReturnType<typeof createRegistry>

const freshMs = 10_000
/** How long after a failed attempt the next reader causes another one, while there is nothing to show. */
const firstMs = 500
const waitMs = 1000
const answerMs = 5000
// While nobody asks: often until the API was reached once, then for those who search.
const retryMs = 5000
const idleMs = 60_000
/**
 * What is read at most; the rest of the registry has to be read from the API. Large schemas fill a list early: the stacks behind
 * them are read alone, some at a time, those with smaller schemas in full.
 */
const most = { lists: 5, bytes: 8 * 2 ** 20, alone: 20, bytesAlone: 65_536 } as const

const headSchema = stackSchema.omit({ schema: true }).extend({ content_hash: z.string().default("") })
type Head = z.infer<typeof headSchema>

const reasonOf = (error: unknown): string => {
  const { cause, code, message } = Object(error) as { cause?: unknown; code?: unknown; message?: string }
  if (cause !== undefined) return reasonOf(cause)
  // A timeout's code is a number.
  return typeof code === "string" ? code : (message ?? "unknown")
}

/** A page of the registry's list of stacks, and where the next one is. */
type ListPage = { readonly text: string; readonly etag: string; readonly next: URL | null }

const readText = async (response: Response): Promise<string> =>
  (await readAtMost(response, most.bytes, "the registry's response is too large")).toString()

type RegistryOptions = Pick<Runtime, "now" | "wallClock"> & {
  /** Where the API is reached. */
  readonly readFrom: string
  /** Where readers reach it. */
  readonly apiUrl: string
  readonly baseUrl: string
  /** Called after the stacks changed. */
  readonly onChange: () => void
  readonly log: Pick<Logger, "info" | "warn">
}

/** Keeps a copy of the platform's public stacks, so that they can be shown and searched while the API is away. */
export const createRegistry = (options: RegistryOptions) => {
  const { readFrom, apiUrl, baseUrl, now, wallClock, onChange, log } = options
  const stopping = new AbortController()
  let copy: RegistryCopy | undefined
  let readAt = 0
  let triedAt = -Infinity
  let isFailing = false
  let reading: Promise<void> | undefined

  /** Each page of the list as it was read last, by its URL. */
  let known: ReadonlyMap<string, ListPage> = new Map()
  const readList = async (url: URL, signal: AbortSignal): Promise<ListPage> => {
    const before = known.get(url.href)
    const headers = before === undefined ? {} : { "If-None-Match": before.etag }
    const response = await fetch(url, { signal, redirect: "error", headers })
    if (response.status === 304 && before !== undefined) return before
    if (!response.ok) throw new Error(`the registry responded with ${response.status}`)
    const text = await readText(response)
    const next = /<([^>]+)>\s*;\s*rel="?next"?/.exec(response.headers.get("link") ?? "")?.[1]
    // The API may be reached by another URL than it knows itself by: only the query counts.
    const query = next?.split("?")[1]
    return {
      text,
      etag: response.headers.get("etag") ?? "",
      next: query === undefined ? null : URL.parse(`?${query}`, url),
    }
  }
  const readLists = async (query: string, signal: AbortSignal): Promise<ReadonlyMap<string, ListPage>> => {
    const lists = new Map<string, ListPage>()
    const first = new URL(`${readFrom}/api/registry?${query}`)
    for (let url: URL | null = first; url !== null && lists.size < most.lists;) {
      const one = await readList(url, signal)
      lists.set(url.href, one)
      url = one.next
    }
    return lists
  }

  /** The stacks that no list has with its schema, by name and content. */
  const alone = new Map<string, Stack>()
  const keyOf = ({ name, content_hash }: Head): string => `${name} ${content_hash}`
  const readAlone = async (head: Head, signal: AbortSignal): Promise<void> => {
    const url = `${readFrom}/api/registry/${head.name}/schema`
    const response = await fetch(url, { signal, redirect: "error" })
    if (!response.ok) return
    const text = await readAtMost(response, most.bytesAlone, "").then(String, (error: unknown) => {
      if (signal.aborted) throw error
      return "{}"
    })
    const { data = { ...head, schema: { entities: [] } } } = stackSchema.safeParse({ ...head, ...JSON.parse(text) })
    alone.set(keyOf(head), data)
  }

  /** What the lists had when they were read last: the stacks with their schemas, and the heads of the others. */
  let listed:
    | {
        readonly text: string
        readonly isWhole: boolean
        readonly stacks: readonly Stack[]
        readonly others: readonly Head[]
      }
    | undefined
  const readListed = async (signal: AbortSignal) => {
    const full = await readLists("include=schema&limit=100", signal)
    const isWhole = (lists: ReadonlyMap<string, ListPage>): boolean => [...lists.values()].at(-1)?.next === null
    const bare = isWhole(full) ? new Map<string, ListPage>() : await readLists("limit=100", signal)
    known = new Map([...full, ...bare])
    const text = hashOf([...known.values()].map((list) => list.text).join("\n"))
    if (text === listed?.text) return listed
    const entriesOf = (lists: ReadonlyMap<string, ListPage>) =>
      [...lists.values()].flatMap((list) => z.array(z.unknown()).parse(JSON.parse(list.text)))
    const entries = entriesOf(full)
    const stacks = readable(stackSchema, entries)
    const heads = new Map(readable(headSchema, [...entries, ...entriesOf(bare)]).map((head) => [head.name, head]))
    for (const { name } of stacks) heads.delete(name)
    listed = { text, isWhole: isWhole(full) || isWhole(bare), stacks, others: [...heads.values()] }
    return listed
  }

  /** All that can be shown, and what changes with it. */
  const readAll = async (signal: AbortSignal) => {
    const { text, isWhole, stacks, others } = await readListed(signal)
    const wanted = new Set(others.map(keyOf))
    for (const key of alone.keys()) if (!wanted.has(key)) alone.delete(key)
    const missing = others.filter((head) => !alone.has(keyOf(head))).slice(0, most.alone)
    await Promise.all(missing.map((head) => readAlone(head, signal)))
    // The schema is of this content; everything else may have changed since it was read.
    const completed = others.flatMap((head) => {
      const { schema } = alone.get(keyOf(head)) ?? {}
      return schema === undefined ? [] : [{ ...head, schema }]
    })
    return {
      stacks: [...stacks, ...completed],
      isWhole: isWhole && completed.length === others.length,
      version: [text, ...alone.keys()].join("\n"),
    }
  }

  /** The latest changes as JSON; an empty text where the API has no feed. */
  const readChanges = async (signal: AbortSignal): Promise<string> => {
    const response = await fetch(`${readFrom}/api/registry/changes?limit=10`, { signal, redirect: "error" })
    return response.ok ? readText(response) : ""
  }

  const read = async (): Promise<void> => {
    triedAt = now()
    const signal = AbortSignal.any([AbortSignal.timeout(answerMs), stopping.signal])
    try {
      const [all, latest] = await Promise.all([readAll(signal), readChanges(signal)])
      const version = hashOf(`${all.version}\n${latest}`)
      if (version !== copy?.version) {
        const { stacks, isWhole } = all
        const feed = z
          .object({ changes: z.array(z.unknown()) })
          .safeParse(latest === "" ? undefined : JSON.parse(latest))
        const changes = readable(changeSchema, feed.data?.changes ?? []).toReversed()
        const urls = { apiUrl, baseUrl }
        const texts = [
          ["stacks", () => stacksMarkdown({ stacks, isWhole, changes }, urls)] as const,
          ...stacks.map((stack) => [`stacks/${stack.name}`, () => stackMarkdown(stack, urls)] as const),
        ]
        const pages = new Map<string, Page>()
        for (const [slug, write] of texts) {
          pages.set(slug, readPage(write(), `${slug}.md`, slug))
          // A large one takes long enough: others get their turn.
          await nextTurn()
        }
        copy = { isWhole, stacks: new Map(stacks.map((stack) => [stack.name, stack])), pages, changes, version }
        onChange()
      }
      if (isFailing) log.info("the platform can be read again")
      isFailing = false
      readAt = wallClock()
    } catch (error) {
      if (stopping.signal.aborted) return
      // Once, not for every reader.
      if (!isFailing) log.warn({ host: new URL(readFrom).host, reason: reasonOf(error) }, "the platform can't be read")
      isFailing = true
    }
  }
  const start = (): Promise<void> =>
    (reading ??= read().finally(() => {
      reading = undefined
    }))

  const keepReading = async (): Promise<void> => {
    for (;;) {
      await start()
      await delay(copy === undefined ? retryMs : idleMs, undefined, { signal: stopping.signal, ref: false })
    }
  }
  keepReading().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error
  })

  return {
    copy: () => copy,
    /** Whether the last attempt to read the registry succeeded; undefined before the first one ended. */
    isAnswering: () => (copy === undefined && !isFailing ? undefined : !isFailing),
    /** What readers of an old copy are told; undefined while the API answers. */
    note: () =>
      isFailing
        ? `The platform API isn't answering. This is what the registry had at ${minuteOf(new Date(readAt).toISOString())}.`
        : undefined,
    /** Reads the registry again if the copy is older than ten seconds; waits for that, but no longer than a second. */
    refresh: async () => {
      const attempt = now() - triedAt > (copy === undefined ? firstMs : freshMs) ? start() : reading
      if (attempt !== undefined) await Promise.race([attempt, delay(waitMs, undefined, { ref: false })])
    },
    close: () => stopping.abort(),
  }
}
