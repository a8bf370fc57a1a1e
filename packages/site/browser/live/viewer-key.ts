import { systemClock } from "@svc/client/http"

const lookMs = 2000

/**
 * Waits for the key that a page of this address has in place of `former`, which the platform no longer takes. The page itself
 * says it: a restarted server has another one.
 */
export const nextViewerKey = async (former: string, signal: AbortSignal): Promise<string> => {
  while (!signal.aborted) {
    const options = { headers: { accept: "text/html" }, cache: "no-store", signal } as const
    const response = await fetch(location.pathname, options).catch(() => undefined)
    const text = response?.ok === true ? await response.text().catch(() => "") : ""
    const key = /\bdata-key="(svc_pk_\w+)"/.exec(text)?.[1] ?? former
    if (key !== former) return key
    await systemClock.sleep(lookMs, signal)
  }
  return former
}
