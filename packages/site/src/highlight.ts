import type { LanguageFn } from "highlight.js"

export type Highlighter = (code: string, language: string) => string | undefined

// The languages that documentation of this kind shows; each brings its own aliases (sh, ts, yml, …).
const languages = "bash diff go http ini javascript json python rust sql typescript xml yaml".split(" ")
// Its patterns are not made for hostile text: what is longer is shown plain.
const longestCode = 10_000

const load = async (): Promise<Highlighter> => {
  const { default: hljs } = await import("highlight.js/lib/core")
  for (const name of languages) {
    const { default: language }: { default: LanguageFn } = await import(`highlight.js/lib/languages/${name}`)
    hljs.registerLanguage(name, language)
  }
  return (code, language) =>
    code.length > longestCode || hljs.getLanguage(language) === undefined
      ? undefined
      : hljs.highlight(code, { language, ignoreIllegals: true }).value
}

let loaded: Promise<Highlighter> | undefined

/** Marks code up by its language: escaped HTML, or undefined where the language is not known. Loaded when first asked for. */
export const loadHighlighter = (): Promise<Highlighter> => (loaded ??= load())
