import fc from "fast-check"
import { expect, test } from "vitest"
import type { Corpus, Page } from "../src/corpus.ts"
import { createLinks } from "../src/html/links.ts"
import { renderPage } from "../src/html/markdown-html.ts"
import { outline } from "../src/markdown.ts"
import { runs } from "./fuzz-runs.ts"

const corpus: Corpus = { pages: new Map(), skills: new Map(), images: new Map(), version: "", warnings: [] }
const links = createLinks(corpus, { baseUrl: "https://docs.example", root: "" })
const pageOf = (markdown: string): Page => {
  const { sections, cuts } = outline(markdown, 0)
  const about = {
    slug: "a",
    file: "a.md",
    title: "A",
    description: "",
    described: false,
    rows: [],
    tokens: 0,
    hash: "",
  }
  return { ...about, markdown, bodyStart: 0, cuts, sections }
}
const render = (page: Page): string => renderPage(page, links, () => undefined)

const alone = new Set(["br", "hr", "img"])
/** The first tag that closes what is not open, or stays open; undefined where all tags pair. */
const unpaired = (html: string): string | undefined => {
  const open: string[] = []
  for (const [, slash = "", name = ""] of html.matchAll(/<(\/?)([a-z]\w*)[^>]*>/g)) {
    if (alone.has(name)) continue
    if (slash === "") open.push(name)
    else if (open.pop() !== name) return name
  }
  return open[0]
}

const piece = fc.constantFrom(
  "# Title\n",
  "## Again {#own}\n",
  "Under\n---\n",
  "text\n",
  "\n",
  "- item\n",
  "  ",
  "> ",
  "1. one\n",
  "::: tip\n",
  "::: details A **title**\n",
  ":::: code-group\n",
  ":::\n",
  "  :::\n",
  "> [!NOTE]\n",
  "```js [a]\n",
  "```\n",
  "| a | b |\n|---|---|\n| ::: | <br> |\n",
  "<Card>\n",
  "</Card>\n",
  "<Card title='",
  "<div>\n",
  "<!-- ",
  "-->\n",
  "[a](javascript:x) ![b](c.png)\n",
  '"><script>alert(1)</script>',
)

test("whatever a page is made of, its tags pair, none is its author's, and every anchor is one of the Markdown's", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 6 })), { maxLength: 30 }), (pieces) => {
      const page = pageOf(pieces.join(""))
      const html = render(page)
      expect(unpaired(html)).toBeUndefined()
      expect(html).not.toMatch(/<script|<Card|\sstyle=|\son\w+=|href="javascript:/)
      const anchors = new Set(page.sections.map(({ anchor }) => anchor))
      for (const [, id = ""] of html.matchAll(/ id="([^"]*)"/g)) expect(anchors).toContain(id)
    }),
    runs(100_000),
  )
})
