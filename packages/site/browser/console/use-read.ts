import type { SvcError } from "@svc/client/http"
import { longestDelayMs } from "@svc/common/longest-delay"
import { useEffect, useRef, useState } from "preact/hooks"
import { type Reply, unexpected, useApi } from "./api.ts"

const retryMs = 5000

/** Whether the same read may succeed later: not after a refusal, nor where the page can't show what came. */
export const mayPass = ({ retryable, status }: SvcError): boolean =>
  retryable || status >= 500 || (status >= 200 && status < 300)

/** Does something that may fail, one at a time, and keeps how it failed. A busy button keeps the focus, so it isn't disabled. */
export const useTry = () => {
  const [error, setError] = useState<SvcError>()
  const [isBusy, setBusy] = useState(false)
  const isRunning = useRef(false)
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    setError(undefined)
    await work().catch((thrown: unknown) => setError(unexpected(thrown)))
    isRunning.current = false
    setBusy(false)
  }
  return { error, isBusy, attempt }
}

/** The next page of a list, from a Link header: the service may know itself by another URL, so only the query counts. */
const nextPath = (path: string, link: string | null): string | undefined => {
  const target = /<([^>]*)>[^,]*rel="next"/.exec(link ?? "")?.[1]
  const query = target?.split("?")[1]
  return query === undefined ? undefined : `${path.split("?")[0]}?${query}`
}

export type Reading<Body> = Partial<Reply<Body>> & {
  readonly error: SvcError | undefined
  readonly again: () => void
}

/**
 * Reads what is at a path, and again after an error that may pass.
 * @param everyMs after how long it is read again, or what tells it by the body; undefined: it is read once
 */
export const useRead = <Body>(
  path: string | undefined,
  everyMs?: number | ((body: Body) => number | undefined),
): Reading<Body> => {
  const { ask } = useApi()
  const [read, setRead] = useState<Reply<Body>>()
  const [error, setError] = useState<SvcError>()
  const [round, setRound] = useState(0)
  const shown = useRef<string>(undefined)
  useEffect(() => {
    if (path === undefined) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    // What stood at another path says nothing of this one.
    if (shown.current !== path) setRead(undefined)
    shown.current = path
    const look = async (): Promise<void> => {
      let nextMs: number | undefined
      try {
        const answer = await ask<Body>({ path })
        if (isOver) return
        setRead(answer)
        nextMs = typeof everyMs === "function" ? everyMs(answer.body) : everyMs
        setError(undefined)
      } catch (thrown) {
        if (isOver) return
        const failure = unexpected(thrown)
        setError(failure)
        nextMs = mayPass(failure) ? Math.max(retryMs, failure.retryAfterMs ?? 0) : undefined
      }
      if (nextMs !== undefined) timer = setTimeout(lookWhenSeen, Math.min(nextMs, longestDelayMs))
    }
    const lookWhenSeen = (): void => {
      if (!document.hidden) void look()
      else timer = setTimeout(lookWhenSeen, retryMs)
    }
    void look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [path, everyMs, round])
  return { ...read, error, again: () => setRound((count) => count + 1) }
}

export type Listing<Item> = Pick<Reading<Item>, "error" | "again"> & {
  readonly items: readonly Item[] | undefined
  /** Undefined: that is all. */
  readonly readMore: (() => void) | undefined
}

/** A list, whose further pages are read when they are asked for. */
export const useList = <Item extends { readonly id: number }>(path: string, everyMs?: number): Listing<Item> => {
  const { ask } = useApi()
  const first = useRead<readonly Item[]>(path, everyMs)
  const [more, setMore] = useState<{ readonly items: readonly Item[]; readonly next: string | undefined }>()
  const { error, attempt } = useTry()
  useEffect(() => setMore(undefined), [path])
  const next = more === undefined ? nextPath(path, first.header?.("link") ?? null) : more.next
  // The first page is read again and again, and moves on: what it had when more was asked for is among `more` too.
  const ids = new Set(first.body?.map(({ id }) => id))
  const items = first.body && [...first.body, ...(more?.items ?? []).filter(({ id }) => !ids.has(id))]
  const readMore = (): Promise<void> =>
    attempt(async () => {
      if (next === undefined) return
      const { body, header } = await ask<readonly Item[]>({ path: next })
      const known = (items ?? []).filter(({ id }) => body.every((one) => one.id !== id))
      setMore({ items: [...known, ...body], next: nextPath(path, header("link")) })
    })
  return {
    items,
    error: error ?? first.error,
    again: () => {
      setMore(undefined)
      first.again()
    },
    readMore: next === undefined ? undefined : () => void readMore(),
  }
}
