import { html, raw } from "hono/html"
import type { SitePage } from "./page.ts"
import { type Html, type Look, frame } from "./frame.ts"
import { pageLink } from "./links.ts"
import { describe } from "./boxes.ts"

export type Services = { readonly apiUrl: string; readonly relayUrl: string }

/** What the product is, in one sentence. */
export const productSummary =
  "Live Solana data for software agents: accounts and keys, a registry of data stacks, streams, and a transaction relay."

const pageList = (root: string, pages: readonly SitePage[]): Html =>
  html`<ul class="pages">
    ${pages.map((page) => html`<li><a href="${pageLink(root, page.slug)}">${page.title}</a>${page.description === "" ? "" : html` <span>${describe(page)}</span>`}</li> `)}
  </ul>`

const sections = ({ root, navigation }: Look, level: "h2" | "h3"): Html =>
  html`${navigation.sections.map(
    ({ name, pages }) =>
      html`<section>
        ${raw(`<${level}>`)}${name}${raw(`</${level}>`)} ${pageList(root, pages)}
      </section> `,
  )}`

const command = (what: Html, line: string): Html =>
  html`<p>${what}</p>
    <div class="code" data-language="sh">
      <pre tabindex="0"><code>${line}</code></pre>
    </div>`

const service = (name: string, url: string, about: Html): Html =>
  html`<section>
    <h3>${name}</h3>
    <code>${url}</code>
    <p>${about}</p>
  </section>`

/** The way in to the product's own pages: what it is, commands that work on this copy, its services, and where to go. */
export const homeView = (look: Look, { apiUrl, relayUrl }: Services): Html => {
  const { root, baseUrl, title } = look
  const shown = {
    ...look.navigation,
    sections: look.navigation.sections.filter(({ pages }) => pages.every(({ slug }) => !slug.startsWith("reference"))),
  }
  return frame(look, {
    title,
    description: productSummary,
    canonical: `${baseUrl}/`,
    alternate: `${root}/index.md`,
    section: look.navigation.sections[0],
    main: html`<article class="home">
      <h1>Live Solana data for software agents</h1>
      <p class="lead">
        An agent signs itself up with one request, reads which live data there is and what it looks like, and sends
        transactions that it signed itself. Everything here is made to be read by agents and people alike.
      </p>
      <p class="go">
        <a href="${pageLink(root, "getting-started")}">Get started</a> <a href="${root}/stacks">See the stacks</a>
        <a href="${pageLink(root, "reference/platform")}">API reference</a>
      </p>
      <h2>Three commands</h2>
      <div class="steps">
        ${command(html`Sign an agent up, and get its key:`, `curl -X POST ${apiUrl}/api/agents/signup`)}
        ${command(html`See every stack with its entities, fields and types:`, `npx ${baseUrl}/cli/svc.tgz explore --json`)}
        ${command(html`Read <a href="${pageLink(root, "agent")}">what an agent reads first</a>:`, `curl ${baseUrl}/agent.md`)}
      </div>
      <h2>The services</h2>
      <div class="cards">
        ${service(
          "Documentation",
          baseUrl,
          html`These pages, for people, as Markdown and over <a href="${pageLink(root, "mcp-server")}">MCP</a> at
            <code>/mcp</code>.`,
        )}
        ${service(
          "Platform API",
          apiUrl,
          html`<a href="${pageLink(root, "agents")}">Sign-up</a>, <a href="${pageLink(root, "keys")}">keys</a>, the
            <a href="${root}/stacks">registry of stacks</a> and
            <a href="${pageLink(root, "sessions")}">session tokens</a>.`,
        )}
        ${service(
          "Transaction relay",
          relayUrl,
          html`<a href="${pageLink(root, "relay")}">Routes</a> to a Solana RPC provider: inspect, and send exactly
            once.`,
        )}
      </div>
      <h2>All pages</h2>
      <div class="sections">${sections({ ...look, navigation: shown }, "h3")}</div>
    </article>`,
  })
}

/** The way in to a folder that has no page of its own for it. */
export const indexView = (look: Look): Html =>
  frame(look, {
    title: look.title,
    canonical: `${look.baseUrl}/`,
    main: html`<article class="home">
      <h1>${look.title}</h1>
      <div class="sections">${sections(look, "h2")}</div>
    </article>`,
  })
