import { full } from "@svc/testing"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createLinks, longestRendered, outline, renderPage, type SitePage } from "../src/index.ts"

const links = createLinks({ findPage: () => undefined, hasImage: () => false }, "https://docs.example")
const pageOf = (markdown: string): SitePage => {
  const { sections } = outline(markdown, 0)
  return { slug: "a", file: "a.md", title: "A", description: "", markdown, bodyStart: 0, sections, rows: [] }
}
const render = (page: SitePage): Promise<string> => renderPage(page, links, () => undefined)

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
  "::: tip A **title**\n",
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

test("in any page, tags are balanced, none is the author's, and every anchor is one of the Markdown's", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(piece, fc.string({ maxLength: 6 })), { maxLength: 30 }), async (pieces) => {
      const page = pageOf(pieces.join(""))
      const html = await render(page)
      expect(unpaired(html)).toBeUndefined()
      expect(html).not.toMatch(/<script|<Card|\sstyle=|\son\w+=|href="javascript:/)
      const anchors = new Set(page.sections.map(({ anchor }) => anchor))
      for (const [, id = ""] of html.matchAll(/ id="([^"]*)"/g)) expect(anchors).toContain(id)
    }),
    { numRuns: full ? 100_000 : 300 },
  )
})

test("a long page is rendered in steps with the same tags, and one too long for that is shown as Markdown", async () => {
  const long = [
    "# Title\n",
    "- item with some text\n".repeat(1000),
    `| a | b |\n|---|---|\n${"| some | cells of a row |\n".repeat(1000)}`,
    "\nA paragraph.\n".repeat(2000),
  ].join("\n")
  let turns = 0
  const count = (): void => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const html = await render(pageOf(long))
  clearImmediate(counting)
  expect(unpaired(html)).toBeUndefined()
  expect(html.match(/<li>|<tr>|<p>/g)).toHaveLength(1000 + 1001 + 2000)
  expect(html.match(/<ul>|<table>/g)).toHaveLength(2)
  expect(turns).toBeGreaterThan(long.length / 20_000)

  const longest = await render(pageOf(`# <b>\na ${"b ".repeat(longestRendered)}`))
  expect(longest).toMatch(/^<div class="code"><pre tabindex="0"><code># &lt;b&gt;\na b /)
  expect(longest).not.toContain("<p>")
})
