import { isLoopback } from "@svc/common/loopback"
import { decodePath } from "@svc/site"
import type { Corpus, Page } from "./corpus.ts"

/** Removes slashes from the end. A regular expression would take quadratic time on a path of slashes. */
const withoutSlashes = (path: string): string => {
  let end = path.length
  while (path[end - 1] === "/") end--
  return path.slice(0, end)
}

/** The page at a decoded path without its leading slash. The path may also end in `.md`, or name a folder's index. */
export const findPage = <Found = Page>(
  corpus: { readonly pages: ReadonlyMap<string, Found> },
  path: string,
): Found | undefined => {
  const bare = withoutSlashes(path)
  const tries = [bare, bare.replace(/\.mdx?$/, ""), bare.replace(/(?:\.mdx?)?$/, "").replace(/(?:^|\/)index$/, "")]
  for (const slug of tries) {
    const page = corpus.pages.get(slug === "" ? "index" : slug)
    if (page !== undefined) return page
  }
  return undefined
}

/** Whether two URLs are of one host: all names and ports of this machine are, but each of its services has its own openapi.json. */
const isSameHost = (one: URL | null, other: URL | null): boolean =>
  one?.host === other?.host ||
  ([one, other].every((url) => isLoopback(url?.hostname ?? "")) &&
    (one?.port === other?.port || one?.pathname !== "/openapi.json"))

/** Reads a reference to a page: a slug, a path or a full URL, with or without an anchor. `isOwn` is false for another host's URL. */
export const readReference = (
  reference: string,
  baseUrl: string,
): { readonly path: string; readonly anchor: string; readonly isOwn: boolean } => {
  let text = reference.trim()
  let isOwn = true
  if (/^https?:\/\//i.test(text)) {
    const url = URL.parse(text)
    const base = URL.parse(baseUrl)
    isOwn = isSameHost(url, base)
    const prefix = base?.pathname.replace(/\/$/, "") ?? ""
    const path = url?.pathname ?? ""
    text = (path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path) + (url?.hash ?? "")
  }
  const [path = "", ...anchor] = text.split("#")
  const bare = path.replace(/\?.*$/s, "").replace(/^[/.]+/, "")
  return { path: decodePath(bare) ?? bare, anchor: decodePath(anchor.join("#")) ?? anchor.join("#"), isOwn }
}

// Edit distance would fail here: a guess like `guides/sign-up` shares a word with the right slug but differs in length.
// Pairs over one letter count too, so that `kyes` is like `keys`.
const pairs = (text: string): Set<string> =>
  new Set(Array.from(text, (_, i) => [text.slice(i, i + 2), text.charAt(i) + text.charAt(i + 2)]).flat())

/** The three slugs that are most similar to `wanted`, by the pairs of letters that they share. */
export const nearestSlugs = (corpus: Corpus, wanted: string): string[] => {
  const asked = pairs(wanted.toLowerCase().slice(0, 200))
  const likeness = (slug: string): number => {
    const own = pairs(slug.toLowerCase())
    return (2 * own.intersection(asked).size) / (own.size + asked.size || 1)
  }
  return [...corpus.pages.keys()]
    .map((slug) => ({ slug, score: likeness(slug) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ slug }) => slug)
}
