import type { Search } from "./search/search.ts"

// Keys, tokens, addresses and hashes are longer than any word that a reader looks for.
const longestWord = 24
// A wallet's recovery phrase has at least twelve words; questions with that many words find something.
const mostWords = 8
const word = /^[-/]?[\p{L}\p{N}][\p{L}\p{N}._/-]*$/u

/** Whether a word may be logged: not an e-mail address, a card or telephone number, or a random-looking string. */
const isPlain = (text: string): boolean => {
  const digits = text.match(/\p{N}/gu)?.length ?? 0
  const byChance = digits > 0 && /\p{Lu}/u.test(text) && /\p{Ll}/u.test(text)
  return text.length <= longestWord && word.test(text) && digits <= 5 && !byChance && !/^svc_[a-z]k_/i.test(text)
}

/**
 * The part of a query that may be logged: its words, with `…` for each that could be a secret, or only their number if
 * there are more than eight.
 */
export const loggedQuery = (query: string): { readonly words: number; readonly query?: string } => {
  const words = query.split(/\s+/u).filter((part) => part !== "")
  if (words.length > mostWords) return { words: words.length }
  return { words: words.length, query: words.map((part) => (isPlain(part) ? part : "…")).join(" ") }
}

/** Wraps a search to log queries that find nothing. */
export const logEmptySearches =
  (search: Search, log: { readonly info: (line: object, message: string) => void }): Search =>
  (query, ...page) => {
    const found = search(query, ...page)
    if (found.total === 0) log.info(loggedQuery(query), "a search found nothing")
    return found
  }
