import type { Search } from "./search/search.ts"

// Keys, tokens, addresses and hashes are longer than any word that a reader looks for.
const longestWord = 24
// Words that are a wallet's recovery phrase come in twelves; questions with as many find something.
const mostWords = 8
const word = /^[-/]?[\p{L}\p{N}][\p{L}\p{N}._/-]*$/u

/** Whether a word can be told to an operator: no e-mail address, no number of a card or a telephone, nothing that looks made by chance. */
const isPlain = (text: string): boolean => {
  const digits = text.match(/\p{N}/gu)?.length ?? 0
  const byChance = digits > 0 && /\p{Lu}/u.test(text) && /\p{Ll}/u.test(text)
  return text.length <= longestWord && word.test(text) && digits <= 5 && !byChance && !/^svc_[a-z]k_/i.test(text)
}

/**
 * What of a query may stand in a log: its words, with `…` for each that could be a secret, and nothing but their number where
 * there are more than eight.
 */
export const loggedQuery = (query: string): { readonly words: number; readonly query?: string } => {
  const words = query.split(/\s+/u).filter((part) => part !== "")
  if (words.length > mostWords) return { words: words.length }
  return { words: words.length, query: words.map((part) => (isPlain(part) ? part : "…")).join(" ") }
}

/** The same search, which logs what it finds nothing for. */
export const logEmptySearches =
  (search: Search, log: { readonly info: (line: object, message: string) => void }): Search =>
  (query, ...page) => {
    const found = search(query, ...page)
    if (found.total === 0) log.info(loggedQuery(query), "a search found nothing")
    return found
  }
