import { type ConnectionState, createPlatform, type RegistryChange } from "@svc/client"
import type { SvcError } from "@svc/client/http"
import { useEffect, useState } from "preact/hooks"
import { unexpected, useApi } from "./api.ts"
import { readKey } from "./session.ts"

const mostKept = 200
const retryMs = 5000

type Read = { readonly changes: readonly RegistryChange[]; readonly next: number }

/** What is known of the feed. `error`: why it goes on no more. */
export type ChangesState = {
  readonly changes: readonly RegistryChange[] | undefined
  readonly connection: ConnectionState["kind"]
  readonly changedAt: number | undefined
  readonly error: SvcError | undefined
}

/** Follows the registry: the newest changes first, at most 200. */
export const useChanges = (): ChangesState => {
  const { ask, base } = useApi()
  const [state, setState] = useState<ChangesState>({
    changes: undefined,
    connection: "connecting",
    changedAt: undefined,
    error: undefined,
  })
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const set = (change: Partial<ChangesState>): void => {
      if (!signal.aborted) setState((known) => ({ ...known, ...change }))
    }
    const key = readKey()
    const follow = async (): Promise<void> => {
      const { body } = await ask<Read>({ path: "/api/registry/changes?limit=100" })
      set({ changes: body.changes.toReversed() })
      const { registry } = createPlatform({ apiUrl: base, ...(key !== undefined && { key }) })
      const onState = ({ kind }: ConnectionState): void => void (kind === "connecting" || set({ connection: kind }))
      for await (const change of registry.changes({ after: body.next, signal, onState }))
        if (!signal.aborted)
          setState((known) => ({
            ...known,
            changedAt: Date.now(),
            changes: [change, ...(known.changes ?? [])].slice(0, mostKept),
          }))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const begin = (): Promise<void> =>
      follow().catch((thrown: unknown) => {
        if (signal.aborted) return
        const error = unexpected(thrown)
        if (!error.retryable) return set({ error })
        set({ connection: "away" })
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
