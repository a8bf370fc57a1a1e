import fc from "fast-check"
import { anyCharacter } from "@svc/testing"
import { createParser, outline, plainText } from "@svc/site"
import { expect, test } from "vitest"
import { stripMdx } from "../src/corpus/mdx.ts"
import { runs } from "./fuzz-runs.ts"

const blocksOf = (markdown: string): string[] => {
  const { cuts } = outline(markdown, 0)
  return cuts.map((cut, i) => markdown.slice(cut, cuts[i + 1]))
}

// Pieces that meet in real pages, and some that are broken.
const piece = fc.constantFrom(
  "# Title\n",
  "## A `code` heading\n\n",
  "Heading\n---\n",
  "text\n",
  "\n",
  "- item\n",
  "\n  - nested\n\n",
  "1. one\n\n",
  "```js\n\nconst a = 1\n\n# no heading\n```\n",
  "````md\n```\n\ninner\n```\n\n````\n",
  "~~~\n\n```\n\n~~~\n",
  "   ```\n\nindented\n\n   ```\n",
  "> quote\n\n",
  "| a | b |\n|---|---|\n| 1 | 2 |\n",
  "<div>\n\n",
  "</div>\n",
  "    indented code\n\n    more\n",
  "\r\n",
  "```\nnever closed\n\n",
  "\u0000",
  "日本語\n\n",
)
const page = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(""))

test("the blocks of a page, concatenated, are the page", () => {
  fc.assert(
    fc.property(fc.oneof(page, fc.string({ unit: anyCharacter })), (markdown) => {
      expect(blocksOf(markdown).join("")).toBe(markdown)
    }),
    runs(20_000),
  )
})

test("no cut falls inside a fence, whatever it contains", () => {
  const lines = fc.array(fc.constantFrom("", "# x", "---", "- a", "text", "``", "~~", "| a |", "> q"), { maxLength: 8 })
  const fence = fc
    .tuple(fc.constantFrom("```", "````", "~~~"), lines)
    .map(([mark, inner]) => [mark, ...inner, mark].join("\n"))
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fence, fc.constantFrom("para", "# Heading", "- item")), { minLength: 1 }),
      (parts) => {
        for (const block of blocksOf(parts.join("\n\n"))) expect(block.split(/^(?:`{3,}|~{3,})/m).length % 2).toBe(1)
      },
    ),
    runs(20_000),
  )
})

test("a section runs to the next heading of its level or higher, and its size is its text's", () => {
  const markdown = "intro\n\n# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## B\n\nd\n\n# E {#custom}\n\ne\n"
  const { sections, lead } = outline(markdown, 0)
  expect(
    sections.map(({ anchor, start, end }) => [anchor, markdown.slice(start, end).replaceAll(/\s+/g, " ").trim()]),
  ).toEqual([
    ["a", "# A a ## B b ### C c ## B d"],
    ["b", "## B b ### C c"],
    ["c", "### C c"],
    ["b-1", "## B d"],
    ["custom", "# E {#custom} e"],
  ])
  expect(sections.map(({ tokens, start, end }) => tokens - Math.ceil((end - start) / 4))).toEqual([0, 0, 0, 0, 0])
  expect(lead).toBe("intro")
})

test("anchors are unique in a page, even if headings repeat or have no letters", () => {
  const { sections } = outline("# a\n\n# a\n\n# a-1\n\n# 🎉\n\n# 🎉\n", 0)
  expect(new Set(sections.map(({ anchor }) => anchor)).size).toBe(5)
})

test("deeply nested lists and quotes lose nothing, and keep the text inside", () => {
  for (const depth of [11, 25, 60, 2000])
    for (const mark of ["- ", "> "]) {
      const deep = `# A\n\n${mark.repeat(depth)}deep\n\n## B\n\n${"- x\n\n".repeat(3)}## C\n`
      expect(outline(deep, 0).sections.map(({ anchor }) => anchor)).toEqual(["a", "b", "c"])
      expect(createParser().render(deep)).toContain("deep")
    }
})

test("headings and titles are read without their markup", () => {
  expect(plainText("Bearer `<API_KEY>` and ``<`a`>`` <br> `Vec<u8>`")).toBe("Bearer <API_KEY> and <`a`> Vec<u8>")
  expect(plainText("**Bold** _and_ `code` [link](https://x.example/a_b) ![alt](i.png) <Badge/>")).toBe(
    "Bold and code link alt",
  )
})

test("MDX: imports, exports, comments and tags are removed, text between tags is kept", () => {
  const source = `import A from "a"
import {
  B,
} from 'b'
export const meta = {
  a: "}",

  b: [1],
}

# Title <Badge text="a > b" on={() => <b>x</b>} />

<Tabs items={["a", \`}\`]}>
<Tab>Kept **text** {/* gone */}</Tab>
</Tabs>

a < b and 1 <2, <https://x.example>
import the module, then go on
`
  expect(stripMdx(source).replaceAll(/\n+/g, "\n").trim()).toBe(
    "# Title \nKept **text** \na < b and 1 <2, <https://x.example>\nimport the module, then go on",
  )
})

test("MDX: fences and inline code are kept byte for byte", () => {
  const code = fc.string({
    unit: fc.constantFrom("<", ">", "{", "}", "a", " ", "\n", "/", '"', "import x from 'x'\n", "</A>"),
  })
  fc.assert(
    fc.property(code, (inner) => {
      const fence = `\n\`\`\`\`tsx\n${inner}\n\`\`\`\`\n`
      const span = `\`${inner.replaceAll("\n", " ")}x\``
      expect(stripMdx(`<A>${fence}</A>\n\n${span} <b/>.`)).toBe(`${fence}\n\n${span} .`)
    }),
    runs(20_000),
  )
})

test("MDX: any text is read, and text without tags stays unchanged", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(
          "\n",
          "import ",
          "export {",
          ...String.raw`<A> < { } ${"`"} ${"```"} ' " x \ {/*`.split(" "),
        ),
      }),
      (source) => {
        expect(stripMdx(source).length).toBeLessThanOrEqual(source.length)
      },
    ),
    runs(50_000),
  )
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", " ", "\n", "#", "*", "`", "```\n", "|", ">", "}") }),
      (source) => {
        expect(stripMdx(source)).toBe(source)
      },
    ),
    runs(20_000),
  )
})
