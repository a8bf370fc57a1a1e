type Highlighter = (code: string, language: string) => string | undefined

// The languages that documentation of this kind shows; each brings its own aliases (sh, ts, yml, …).
const languages = {
  bash: () => import("highlight.js/lib/languages/bash"),
  diff: () => import("highlight.js/lib/languages/diff"),
  go: () => import("highlight.js/lib/languages/go"),
  http: () => import("highlight.js/lib/languages/http"),
  ini: () => import("highlight.js/lib/languages/ini"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  python: () => import("highlight.js/lib/languages/python"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
}
// Its patterns are not made for hostile text: what is longer is shown plain.
const longestCode = 10_000

const load = async (): Promise<Highlighter> => {
  const { default: hljs } = await import("highlight.js/lib/core")
  for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, (await language()).default)
  return (code, language) =>
    code.length > longestCode || hljs.getLanguage(language) === undefined
      ? undefined
      : hljs.highlight(code, { language, ignoreIllegals: true }).value
}

let loaded: Promise<Highlighter> | undefined

/** Marks code up by its language: escaped HTML, or undefined where the language is not known. Loaded when first asked for. */
export const loadHighlighter = (): Promise<Highlighter> => (loaded ??= load())
export type { Highlighter }
