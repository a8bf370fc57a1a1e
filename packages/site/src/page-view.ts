import { html, raw } from "hono/html"
import { type Html, type Look, frame } from "./frame.ts"
import { markdownLink, pageLink } from "./links.ts"
import type { SitePage } from "./markdown.ts"
import { longestRendered } from "./render-page.ts"

const mostListed = 300

const contentsOf = ({ sections, markdown }: SitePage): Html | "" => {
  // A page that is shown as its Markdown has no anchors.
  if (markdown.length > longestRendered) return ""
  const listed = sections.filter(({ level }) => level === 2 || level === 3).slice(0, mostListed)
  if (listed.length < 2) return ""
  return html`<nav class="contents" aria-label="On this page">
    <details>
      <summary>On this page</summary>
      <ul>
        ${listed.map(({ anchor, heading, level }) => html`<li class="level-${level}"><a href="#${encodeURIComponent(anchor)}">${heading}</a></li> `)}
      </ul>
    </details>
  </nav>`
}

const code = (text: string): Html =>
  html`<div class="code">
    <pre tabindex="0"><code>${text}</code></pre>
  </div>`

/** What an agent is handed to read the same page, and to find the others. */
const forAgents = ({ baseUrl, root }: Look, slug: string): Html =>
  html`<div id="frame.agents" class="agents" popover>
    <p>The call that gives this page to an agent:</p>
    ${code(JSON.stringify({ name: "fetch_page", arguments: { slug } }))}
    <p>The settings that give an MCP client all pages:</p>
    ${code(JSON.stringify({ mcpServers: { docs: { type: "http", url: `${baseUrl}/mcp` } } }, undefined, 2))}
    <p>
      Without MCP: <a href="${markdownLink(root, slug)}">this page as Markdown</a>,
      <a href="${root}/llms.txt">the list of all pages</a>.
    </p>
  </div>`

/** An operation's example, with the place where the script lets a reader try it, is set beside the text. */
const withExample = (text: string, { trial }: SitePage): string => {
  const [, before = text, example = "", after = ""] =
    /^([^]*?)(<h2 id="example">[^]*?)((?:<h2 [^]*)?)$/.exec(text) ?? []
  const place = trial === undefined ? "" : `<div id="frame.try" data-kind="${trial}"></div>`
  return `<div>${before}</div><section class="example">${example}${place}</section><div>${after}</div>`
}

/**
 * @param text the page's Markdown as HTML
 * @param parent a page above this one, for pages outside the navigation
 */
export const pageView = (
  look: Look,
  page: SitePage,
  text: string | Html,
  parent?: { readonly name: string; readonly href: string },
): Html => {
  const { root, navigation } = look
  const { section, previous, next } = navigation.placeOf(page)
  const hasTitle = page.sections[0]?.level === 1
  const isOperation = page.method !== undefined
  return frame(look, {
    title: page.title,
    page,
    file: parent === undefined ? page.file : undefined,
    contents: isOperation ? "" : contentsOf(page),
    main: html`<div class="bar">
        <nav class="crumbs" aria-label="Breadcrumb">
          <ol>
            <li><a href="${root}/">${look.title}</a></li>
            ${section === undefined ? "" : html`<li>${section.name}</li>`}
            ${parent === undefined ? "" : html`<li><a href="${parent.href}">${parent.name}</a></li>`}
            <li aria-current="page">${page.title}</li>
          </ol>
        </nav>
        <div class="tools">
          <a href="${markdownLink(root, page.slug)}">As Markdown</a>
          <button type="button" popovertarget="frame.agents">Copy for an agent</button>
        </div>
      </div>
      ${forAgents(look, page.slug)}
      <article>${hasTitle ? "" : html`<h1>${page.title}</h1>`} ${typeof text === "string" ? raw(isOperation ? withExample(text, page) : text) : text}</article>
      <nav class="turn" aria-label="Previous and next">
        ${previous === undefined ? "" : html`<a rel="prev" href="${pageLink(root, previous.slug)}"><small>Previous</small> ${previous.title}</a>`}
        ${next === undefined ? "" : html`<a rel="next" href="${pageLink(root, next.slug)}"><small>Next</small> ${next.title}</a>`}
      </nav>`,
  })
}
