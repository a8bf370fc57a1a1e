import { editDistance } from "@svc/common/edit-distance"
import { loopbackNames } from "@svc/common/loopback"

// Of the normalized text too, which an index of the database must be able to hold.
const maxLength = 2048

// RFC 3986 section 6.2.2: `%74` is `t`, and `%c3` is `%C3`.
const oneSpelling = (text: string): string =>
  text.replaceAll(/%[\da-f]{2}/gi, (code) => {
    const char = String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return /[\w.~-]/.test(char) ? char : code.toUpperCase()
  })

/**
 * Normalizes a stream's URL for storing and comparing: host in lower case and without a dot at its end, no default port, no
 * slash at the end, characters that need no percent sign without one. Undefined unless it is a ws:// or wss:// URL without user and fragment.
 */
export const normaliseWebsocketUrl = (text: string): string | undefined => {
  const url = text.length > maxLength ? null : URL.parse(text)
  if (url === null || !["ws:", "wss:"].includes(url.protocol)) return undefined
  if (url.username !== "" || url.password !== "" || url.href.includes("#")) return undefined
  const host = url.host.replace(/\.(?=$|:)/, "")
  const normalised = `${url.protocol}//${host}${oneSpelling(url.pathname.replace(/\/+$/, "") + url.search)}`
  return normalised.length > maxLength ? undefined : normalised
}

/** The reason for a URL that `normaliseWebsocketUrl` rejects. */
export const urlFault = "must be a ws:// or wss:// URL without user name and fragment"

/**
 * All spellings of a normalized URL that mean the same stream. The first is the same for all of them. The local host
 * has three names; any other URL has one spelling.
 */
export const spellingsOf = (url: string): readonly [string, ...string[]] => {
  const { protocol, hostname, port, pathname, search } = new URL(url)
  if (!loopbackNames.some((name) => name === hostname)) return [url]
  const rest = `${port === "" ? "" : `:${port}`}${pathname.replace(/\/$/, "")}${search}`
  const [first = "", ...others] = loopbackNames.map((host) => `${protocol}//${host}${rest}`)
  return [first, ...others]
}

// Accepts a few typing errors. With more, it is a different address.
const maxEdits = 3
// Comparing takes time in proportion to both lengths, so long URLs get no suggestion and the total is limited.
const maxComparedLength = 200
const maxSteps = 1_000_000

/** The text, such as a normalized URL, that a mistyped one most likely means; undefined if none is close. */
export const nearestText = (text: string, candidates: Iterable<string>, max = maxEdits): string | undefined => {
  if (text.length > maxComparedLength) return undefined
  let best: string | undefined
  let edits = max + 1
  let steps = 0
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - text.length) >= edits) continue
    const distance = editDistance(text, candidate, edits - 1, (row) => (steps += row))
    if (distance < edits) [best, edits] = [candidate, distance]
    if (steps > maxSteps) break
  }
  return best
}
