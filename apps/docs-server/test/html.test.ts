import { join } from "node:path"
import { brotliDecompressSync, gzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { bundles, styles } from "@svc/site"
import { wantsHtml } from "../src/answers.ts"
import { pagesOfFile } from "./pages.ts"
import { rawGet } from "@svc/testing"
import { serverOfFile, testServer } from "./start.ts"

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
const hostile = `# Hostile <img src=x onerror=alert(1)> title {#"><script>alert(2)</script>}

<script>alert(3)</script>

<div onclick="alert(4)">

text <b onmouseover=alert(5)>bold</b> <!-- unseen -->

[a](javascript:alert(6)) [b](JaVaScRiPt:alert(7)) [c](data:text/html,<script>alert(8)</script>) [d](vbscript:x) [e](file:///etc/passwd)
[f](http://other.example/x) [g](mailto:a@b.example) <javascript:alert(9)>

![tracker](https://other.example/pixel.png) ![inline](data:image/svg+xml,<svg/onload=alert(10)>) [![linked](https://other.example/b.png)](other.md)

\`\`\`"><script>alert(11)</script>
<script>alert(12)</script>
\`\`\`

| a |
|:-:|
| <script>alert(13)</script> |

## "quotes' & <tags>
`
const files: Readonly<Record<string, string | Buffer>> = {
  "hostile.md": `---\ntitle: "</title><script>alert(0)</script>"\ndescription: '"><script>alert(14)</script>'\nsection: '<b>S</b>'\norder: -1\n---\n${hostile}`,
  "odd.md":
    "---\nsection: {a: [1]}\norder: [2]\n---\n# Odd\n\n## One\n\n## Two\n\n![here](pictures/dot.png) ![svg](/pictures/dot.svg)\n",
  "other.md":
    "---\norder: .nan\n---\n# Other\n\nSee [one](./guides/one.md#part), [two](guides/one), [three](https://docs.example/guides/one.md) and [none](./none).\n",
  "guides/two.md":
    "---\norder: '1'\n---\n# Two\n\n[up](../other.md) [beside](one)\n\n## Same\n\n## Same\n\n## A `code` heading {#own}\n\n- ## In a list\n\n## Last\n",
  "search.md": "# A page called search\n",
  "foreign.md": `---
layout: doc
---
::: warning
Begins with a box.
:::

# Foreign <Badge type="tip" text="new" />

::: tip A **bold** "title"
inside

## Boxed {#boxed}

\`\`\`md
::: no box
\`\`\`
:::

- item

  :::danger Never closed
  text

> [!NOTE]
> quoted

> [!CAUTION]

::: code-group
\`\`\`sh [npm]
npm i
\`\`\`
\`\`\`ts title="a.ts"
1
\`\`\`
:::

:::code language="cs" source="x.cs":::

Map<Key> one<br>two <Tip>kept</Tip>

<Card title="x">
  see [one](guides/one)
</Card>

<script setup>
import x from "y"
</script>

![shot](/img/dot.png) ![lost](/img/none.png) [site](/docs/guides/one#part)

## Boxed
`,
  "public/img/dot.png": pixel,
  "blank/index.md": "---\nlayout: home\nhero:\n  name: X\n---\n",
  "pictures/dot.png": pixel,
  "pictures/dot.svg": '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(15)</script></svg>',
}

const pages = pagesOfFile(files)
const server = serverOfFile(() => ({
  SVC_DOCS_URL: "https://docs.example",
  SVC_ALLOWED_HOSTS: "127.0.0.1",
  SVC_CLI_TARBALL: join(pages.dir, "none"),
  SVC_DOCS_DIR: pages.dir,
  SVC_API_URL: "https://api.example/base",
}))
const own = serverOfFile(() => ({ SVC_API_URL: "https://api.example" }))

const get = (path: string, headers: Record<string, string> = { accept: browser }, at = server, method = "GET") =>
  fetch(`${at.url}${path}`, { method, headers: { "accept-encoding": "identity", ...headers } })
const html = async (path: string, at = server): Promise<string> => (await get(path, { accept: browser }, at)).text()

test.each([
  [browser, true],
  ["text/html", true],
  ["application/xhtml+xml;q=0.1", true],
  ["text/html;q=0.5, text/markdown;q=0.4", true],
  ["text/html, text/markdown", false],
  ["text/html;q=0.5, text/plain;q=0.5", false],
  ["text/html;q=0", false],
  ["text/*", false],
  ["*/*", false],
  ["application/json, text/event-stream", false],
  ["", false],
  [undefined, false],
])("Accept %s prefers HTML: %s", (accept, wanted) => {
  expect(wantsHtml(accept)).toBe(wanted)
})

test.each(["*/*", "application/json, text/event-stream", "text/markdown, text/plain;q=0.9, */*;q=0.1"])(
  "a client that accepts %s gets a page as Markdown, under any spelling of its path",
  async (accept) => {
    for (const path of ["/guides", "/guides/", "/guides.md", "/guides/index"]) {
      const answer = await get(path, { accept })
      expect([answer.headers.get("content-type"), await answer.text()], path).toEqual([
        "text/markdown; charset=utf-8",
        "# Guides\n\nHow to do things.\n",
      ])
    }
  },
)

test("a browser gets the page with its policy, ETag, Markdown URL and an accepted encoding", async () => {
  const answer = await get("/guides/one")
  expect(answer.status).toBe(200)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    vary: "Accept, Accept-Encoding",
    link: '</guides/one.md>; rel="alternate"; type="text/markdown"',
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self' https://api.example; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  })
  const text = await answer.text()
  expect(text).toContain('<link rel="alternate" type="text/markdown" href="/guides/one.md" />')
  expect(text).toContain('<link rel="canonical" href="https://docs.example/guides/one.html" />')
  const etag = answer.headers.get("etag") ?? ""
  expect((await get("/guides/one", { accept: "*/*" })).headers.get("etag")).not.toBe(etag)
  const again = await get("/guides/one", { accept: browser, "if-none-match": etag })
  expect([again.status, await again.text()]).toEqual([304, ""])
  const head = await get("/guides/one", { accept: browser }, server, "HEAD")
  expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, etag, ""])
  const taken = { accept: browser, "accept-encoding": "gzip, deflate, br, zstd" }
  const packed = await rawGet(server.url, "/guides/one", taken)
  expect([packed.headers["content-encoding"], packed.headers.etag]).toEqual(["br", `W/${etag}`])
  expect(brotliDecompressSync(packed.body).toString()).toBe(text)
})

test("no site can frame the console, hold its window or learn its address", async () => {
  const { headers } = await get("/console", { accept: browser }, own)
  expect(headers.get("content-security-policy")).toMatch(
    /connect-src 'self' https:\/\/api\.example(?: \S+)?;.*frame-ancestors 'none'/,
  )
  expect([headers.get("cross-origin-opener-policy"), headers.get("referrer-policy")]).toEqual([
    "same-origin",
    "no-referrer",
  ])
})

test("a page is HTML under .html and Markdown under .md, whatever Accept says", async () => {
  for (const accept of [browser, "*/*", "text/markdown"]) {
    expect((await get("/guides/one.html", { accept })).headers.get("content-type")).toBe("text/html; charset=utf-8")
    expect((await get("/guides/one.md", { accept })).headers.get("content-type")).toBe("text/markdown; charset=utf-8")
  }
  expect(await html("/search.html")).toContain("A page called search")
  expect(await html("/search")).toContain("Words to look for")
})

test("errors are pages for people with the same status, but never at /mcp", async () => {
  for (const [path, accept, status, type] of [
    ["/none", browser, 404, "text/html; charset=utf-8"],
    ["/none", "*/*", 404, "application/json; charset=utf-8"],
    ["/none.html", browser, 404, "text/html; charset=utf-8"],
  ] as const) {
    const answer = await get(path, { accept })
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("vary")]).toEqual([
      status,
      type,
      "Accept",
    ])
  }
  for (const method of ["DELETE", "PUT"]) {
    const answer = await get("/mcp", { accept: browser }, server, method)
    expect([answer.status, answer.headers.get("content-type")]).toEqual([405, "application/json; charset=utf-8"])
  }
  expect((await get("/mcp", { accept: browser })).headers.get("content-type")).toBe("application/json; charset=utf-8")
})

test("other tools' Markdown extensions are rendered as there; agents get the source with whole links", async () => {
  const text = await html("/foreign")
  const article = /<article>([^]*)<\/article>/.exec(text)?.[1] ?? ""
  expect(text).toContain('<meta name="description" content="Begins with a box." />')
  expect(article).toContain('<h1 id="foreign">Foreign </h1>')
  expect(article).toContain('<div class="note good"><p class="title">A bold &quot;title&quot;</p>')
  expect(article).toMatch(/<h2 id="boxed">Boxed <a[^]*::: no box[^]*<\/div>/)
  expect(article).toMatch(
    /<li>\s*<p>item<\/p>\s*<div class="note bad"><p class="title">Never closed<\/p>\s*<p>text<\/p>\s*<\/div>\s*<\/li>/,
  )
  expect(article).toContain('<blockquote class="note"><p class="title">Note</p>\n<p>quoted</p>')
  expect(article).toContain('<blockquote class="note care"><p class="title">Caution</p>\n</blockquote>')
  expect(article).toMatch(/<div class="group">\s*<div class="code" data-language="sh"><p class="title">npm<\/p>/)
  expect(article).toContain('<p class="title">a.ts</p>')
  expect(article).toContain(":::code language=")
  expect(article).toContain("<p>Map&lt;Key&gt; one<br>two kept</p>")
  expect(article).toContain('<p>see <a href="/guides/one.html">one</a></p>')
  expect(article).toContain("&lt;script setup&gt;")
  expect(article).toContain(
    '<img src="/public/img/dot.png" alt="shot" loading="lazy"> lost <a href="/guides/one.html#part">site</a>',
  )
  expect(article).toContain('<h2 id="boxed-1">')
  expect(article.match(/<div/g)?.length).toBe(article.match(/<\/div>/g)?.length)
  const given = await (await get("/foreign.md")).text()
  const whole = "https://docs.example"
  expect(given).toContain(
    `![shot](${whole}/public/img/dot.png) ![lost](${whole}/img/none.png) [site](${whole}/guides/one.md#part)`,
  )
  expect(given.replaceAll(/\]\([^)]*\)/g, "]()")).toBe(String(files["foreign.md"]).replaceAll(/\]\([^)]*\)/g, "]()"))
  // A page of front matter alone is not offered to readers.
  expect(text).not.toContain("/blank.html")
  expect((await get("/blank")).status).toBe(200)
})

test("no author's text becomes markup, and no link leads to a script", async () => {
  for (const path of [
    "/hostile",
    "/",
    "/other",
    `/search?q=${encodeURIComponent("<script>alert(1)</script>\"'")}`,
    "/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
  ]) {
    const text = await html(path)
    // One script of our own, by its address.
    expect(text.match(/<script[^>]*>/g), path).toEqual([
      expect.stringMatching(/^<script src="\/assets\/site\.\w+\.js" type="module" blocking="render">$/),
    ])
    expect(text, path).not.toMatch(/<[^>]*\son\w+\s*=/i)
    expect(text, path).not.toMatch(/(?:href|src)="\s*(?:javascript|vbscript|file|data:text|data:image\/svg\+xml,<)/i)
    expect(text, path).not.toMatch(/<[^>]*\sstyle=/)
    expect(text, path).not.toMatch(/<img[^>]*other\.example/)
  }
  const text = await html("/hostile")
  expect(text).toContain("&lt;div onclick=&quot;alert(4)&quot;&gt;")
  expect(text).not.toContain("unseen")
  expect(text).toContain('<a href="https://other.example/pixel.png">tracker</a>')
  expect(text).toContain('<a href="/other.html">linked</a>')
  expect(text).toContain('<a href="http://other.example/x">f</a> <a href="mailto:a@b.example">g</a>')
  expect(text).toContain('<td class="center">')
})

test("headings have the same anchors as in Markdown; headings in lists have none", async () => {
  const text = await html("/guides/two")
  expect([...text.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => id)).toEqual(["same", "same-1", "own", "last"])
  expect(text).toContain("<h2>In a list")
  expect(text).toMatch(/<h2 id="own">A <code>code<\/code> heading <a/)
})

test("links between pages work, relative ones too; a folder's pictures are served and can't run scripts", async () => {
  const text = await html("/other")
  expect(text).toContain('<a href="/guides/one.html#part">one</a>')
  expect(text.match(/href="\/guides\/one\.html"/g)?.length).toBeGreaterThanOrEqual(2)
  expect(text).toContain('<a href="/none">none</a>')
  expect(await html("/guides/two")).toMatch(/<a href="\/other.html">up<\/a> <a href="\/guides\/one.html">beside<\/a>/)
  expect(await html("/odd")).toContain('<img src="/pictures/dot.png" alt="here" loading="lazy">')
  const picture = await get("/pictures/dot.png")
  expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"])
  expect(Buffer.from(await picture.arrayBuffer())).toEqual(pixel)
  const drawing = await get("/pictures/dot.svg")
  expect(drawing.headers.get("content-security-policy")).toContain("sandbox")
})

test("a page describes itself to other sites, and shows its version and where to edit it", async () => {
  const editable = await testServer({ SVC_DOCS_DIR: pages.dir, SVC_DOCS_EDIT_URL: "https://git.example/edit/main" })
  const page = await fetch(`${editable.url}/guides/one.html`).then((answer) => answer.text())
  expect(page).toContain('<meta property="og:title" content="One" />')
  expect(page).toContain('<meta property="og:description" content="The first guide." />')
  expect(page).toContain('<a href="https://git.example/edit/main/guides/one.md">Edit this page</a>')
  expect(page).toMatch(/<footer>\s*<span>Fixture docs \d+\.\d+\.\d+<\/span>/)
  expect(page).not.toContain("Changelog")
  const icon = await get("/favicon.ico")
  expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/x-icon"])
})

test("an operator's folder has its own title and navigation; its index is the home page", async () => {
  const text = await html("/")
  expect(text).toContain("<title>Fixture docs</title>")
  expect(text).toMatch(/<summary>S<\/summary>[^]*<summary>Guides<\/summary>[^]*<summary>Pages<\/summary>/)
  expect(text).not.toContain("/stacks")
  expect((await get("/stacks")).status).toBe(404)
})

test("search has an HTML page for people, and Markdown without HTML", async () => {
  expect(await html("/search?q=unique+text")).toMatch(/<a href="\/guides\/one.html#one">One/)
  expect(await html("/search?q=unique+text%7C(")).toContain("<mark>Unique</mark>")
  const plain = await get("/search?q=unique+text", { accept: "*/*" })
  expect([plain.headers.get("content-type"), await plain.text()]).toEqual([
    "text/markdown; charset=utf-8",
    expect.stringContaining("https://docs.example/guides/one.md"),
  ])
  for (const query of ["", "?q=", "?q=the", `?q=${"x".repeat(600)}`, "?q=a&cursor=b", "?q=%ff"])
    expect((await get(`/search${query}`)).status, query).toBe(200)
})

test("crawlers find every page once, and the registry, without requesting HTML", async () => {
  const map = await (await get("/sitemap.xml", { accept: "*/*" })).text()
  expect(map).toContain("<loc>https://docs.example/mit%20leerzeichen.html</loc>")
  expect(await (await get("/robots.txt", { accept: "*/*" })).text()).toContain(
    "Sitemap: https://docs.example/sitemap.xml",
  )
})

test("style sheets and scripts are cached for a year, and are small for pages, live pages and the console", async () => {
  const sizes = { site: 0, live: 0, console: 0 }
  for (const name of ["site", "live", "console"] as const) {
    expect(
      bundles[name].some(({ path }) => /\.[A-Z0-9]{8}\.js$/.test(path)),
      name,
    ).toBe(true)
    for (const { path, text } of bundles[name]) {
      expect((await get(path)).headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
      if (path.endsWith(".js")) sizes[name] += gzipSync(text).length
    }
  }
  console.log(`scripts, gzipped: ${JSON.stringify(sizes)}`)
  expect(sizes.site).toBeLessThan(12_000)
  expect(sizes.site + sizes.live).toBeLessThan(60_000)
  expect(sizes.site + sizes.console).toBeLessThan(90_000)
  expect(gzipSync(styles.text).length).toBeLessThan(8000)
  const page = await html("/keys.html", own)
  expect(page).toContain(`"${styles.path}"`)
  expect(page.match(/<script/g)).toHaveLength(1)
  expect((await html("/", own)).match(/<script/g)).toHaveLength(2)
})

/** Follows every link that a server gives below its URL, from what agents and crawlers are told; those that lead nowhere. */
const brokenLinks = async (at: typeof server, missing: readonly string[]): Promise<readonly string[]> => {
  const broken: string[] = []
  const read = new Map<string, string>()
  const waiting: (readonly [from: string, url: string])[] = []
  const { pathname: root } = new URL(at.baseUrl)
  const follow = (from: string, link: string, isMarkdown = false): void => {
    const url = URL.parse(link.replaceAll("&amp;", "&"), isMarkdown ? undefined : at.baseUrl + from)
    // A section of the same skill file, which agents install.
    if (url === null) return void (link.startsWith("#") || broken.push(`${from}: ${link} is relative`))
    if (url.origin !== new URL(at.baseUrl).origin || missing.some((part) => url.href.includes(part))) return
    else if (url.pathname !== root && !url.pathname.startsWith(`${root}/`))
      broken.push(`${from}: ${link} leaves ${root}`)
    else waiting.push([from, url.pathname.slice(root.length) + url.search + url.hash])
  }
  for (const path of "/ /llms.txt /sitemap.xml /llms-full.txt /mcp /no/such /search?q=one /robots.txt".split(" "))
    waiting.push(["start", path], ["start", `${path}#as-page`])
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [from, link] = next
    const [path = "", anchor = ""] = link.split("#")
    // Pages are also what they are for people.
    const isPage = anchor === "as-page" || path.endsWith(".html")
    const key = `${path} ${isPage}`
    let text = read.get(key)
    if (text === undefined) {
      const answer = await get(path, { accept: isPage ? browser : "*/*" }, at)
      text = await answer.text()
      read.set(key, text)
      if (from !== "start" && from !== path && answer.status !== 200)
        broken.push(`${from}: ${path} is ${answer.status}`)
      const type = answer.headers.get("content-type") ?? ""
      for (const [, url = ""] of (answer.headers.get("link") ?? "").matchAll(/<([^>]+)>/g)) follow(path, url)
      if (type.startsWith("text/html"))
        for (const [, url = ""] of text.matchAll(/<(?:a|link|script|img) [^>]*?(?:href|src)="([^"]+)"/g))
          follow(path, url)
      else if (/markdown|plain|xml/.test(type)) {
        const plain = text.replaceAll(/^ *(`{3,})[^]*?^ *\1|(`+)[^`\n]+?\2/gm, "")
        for (const [, url = ""] of plain.matchAll(/\]\(<?((?!javascript|JaVa|data|vbscript)[^\s)>]+)/g))
          follow(path, url, true)
        for (const [url] of text.matchAll(/https?:[/][^\s<>"'`)|\]}]+[\w/]/g)) follow(path, url, true)
      } else if (type.startsWith("application/json"))
        for (const [url] of text.matchAll(/https?:[^\s"\\]+[\w/]|(?<= )\/(?!path\b)[\w.-]+[\w]/g)) follow(path, url)
    }
    const isSection = isPage && anchor !== "" && anchor !== "as-page" && anchor !== "frame.main"
    if (anchor !== "" && path.endsWith(".md") && !path.startsWith("/skills/"))
      waiting.push([from, `${path.replace(/md$/, "html")}#${anchor}`])
    if (isSection && !text.includes(`id="${decodeURIComponent(anchor)}"`))
      broken.push(`${from}: ${link} has no such section`)
  }
  return broken
}

test("every link of every page, document, header and hint works, behind a path prefix too", async () => {
  const settings = { SVC_DOCS_URL: "https://docs.example/docs", SVC_ALLOWED_HOSTS: "127.0.0.1" }
  const ours = await testServer({ ...settings, SVC_API_URL: "https://docs.example/api" })
  expect(await brokenLinks(ours, ["/docs/cli/", "/docs/client/svc", "/docs/stacks", "/api", "/mcp", "%7B"])).toEqual([])
  const theirs = await testServer({ ...settings, SVC_DOCS_DIR: pages.dir })
  expect(await brokenLinks(theirs, ["none", "docs.example/guides", "#part"])).toEqual([])
})
