import { editDistance } from "@svc/common/edit-distance"
import { loopbackNames } from "@svc/common/loopback"

const longest = 2048

/**
 * A stream's URL in the one spelling under which it is stored and compared: host in lower case, default port and one
 * trailing slash dropped. Undefined when it is no ws:// or wss:// URL, or carries a user or a fragment.
 */
export const normaliseWebsocketUrl = (text: string): string | undefined => {
  const url = text.length > longest ? null : URL.parse(text)
  if (url === null || !["ws:", "wss:"].includes(url.protocol)) return undefined
  if (url.username !== "" || url.password !== "" || url.href.includes("#")) return undefined
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, "")}${url.search}`
}

/** What is wrong with a text that `normaliseWebsocketUrl` does not take. */
export const urlFault = "must be a ws:// or wss:// URL without user name and fragment"

/**
 * All spellings of a normalised URL that mean the same stream, the first of them the same for all: this machine has three
 * names. Any other URL has one.
 */
export const spellingsOf = (url: string): readonly [string, ...string[]] => {
  const { protocol, hostname, port, pathname, search } = new URL(url)
  if (!loopbackNames.some((name) => name === hostname)) return [url]
  const rest = `${port === "" ? "" : `:${port}`}${pathname.replace(/\/$/, "")}${search}`
  const [first = "", ...others] = loopbackNames.map((host) => `${protocol}//${host}${rest}`)
  return [first, ...others]
}

// A few typing errors; more of them make another address.
const mostEdits = 3
// Comparing two URLs takes time that grows with both lengths: longer ones get no suggestion, and all take a bounded time.
const longestCompared = 200
const mostSteps = 1_000_000

/** The URL that a mistyped one most likely means; undefined when none is close. All of them normalised. */
export const nearestUrl = (url: string, candidates: Iterable<string>): string | undefined => {
  if (url.length > longestCompared) return undefined
  let best: string | undefined
  let edits = mostEdits + 1
  let steps = 0
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - url.length) >= edits) continue
    const distance = editDistance(url, candidate, edits - 1, (row) => (steps += row))
    if (distance < edits) [best, edits] = [candidate, distance]
    if (steps > mostSteps) break
  }
  return best
}
