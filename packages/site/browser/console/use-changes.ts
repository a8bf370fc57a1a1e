import { createPlatform, type RegistryChange } from "@svc/client"
import type { SvcError } from "@svc/client/http"
import { useEffect, useState } from "preact/hooks"
import { unexpected, useApi } from "./api.ts"
import { readKey } from "./session.ts"

const mostKept = 200
const retryMs = 5000

type Read = { readonly changes: readonly RegistryChange[]; readonly next: number }

/** What is known of the feed: `isAway` while the platform can't be reached, `error` once it goes on no more. */
export type ChangesState = {
  readonly changes: readonly RegistryChange[] | undefined
  readonly isAway: boolean
  readonly error: SvcError | undefined
}

/** Follows the registry: the newest changes first, at most 200. */
export const useChanges = (): ChangesState => {
  const { ask, base } = useApi()
  const [state, setState] = useState<ChangesState>({ changes: undefined, isAway: false, error: undefined })
  useEffect(() => {
    const leaving = new AbortController()
    const set = (change: Partial<ChangesState>): void => {
      if (!leaving.signal.aborted) setState((known) => ({ ...known, ...change }))
    }
    const key = readKey()
    /** Tells whether the platform gives responses; each of them counts, an error too. */
    const told: typeof fetch = async (...asked) => {
      const response = await fetch(...asked).catch((thrown: unknown) => {
        set({ isAway: true })
        throw thrown
      })
      set({ isAway: !response.ok })
      return response
    }
    const follow = async (): Promise<void> => {
      const { body } = await ask<Read>({ path: "/api/registry/changes?limit=100" })
      set({ changes: body.changes.toReversed(), isAway: false })
      const { registry } = createPlatform({ apiUrl: base, fetch: told, ...(key !== undefined && { key }) })
      for await (const change of registry.changes({ after: body.next, signal: leaving.signal }))
        if (!leaving.signal.aborted)
          setState((known) => ({ ...known, changes: [change, ...(known.changes ?? [])].slice(0, mostKept) }))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const begin = (): Promise<void> =>
      follow().catch((thrown: unknown) => {
        if (leaving.signal.aborted) return
        const error = unexpected(thrown)
        if (!error.retryable) return set({ error })
        set({ isAway: true })
        timer = setTimeout(begin, Math.max(retryMs, error.retryAfterMs ?? 0))
      })
    void begin()
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [])
  return state
}
