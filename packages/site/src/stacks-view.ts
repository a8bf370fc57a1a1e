import { html } from "hono/html"
import { type Html, type Look, frame } from "./frame.ts"

type StacksServices = { readonly apiUrl: string; readonly streamUrl: string }

/** The registry as a page that its script fills from the API: nothing here goes stale when a stack is published. */
export const stacksView = (look: Look, { apiUrl, streamUrl }: StacksServices, name?: string): Html => {
  const { root, baseUrl } = look
  const json = name === undefined ? `${apiUrl}/api/registry` : `${apiUrl}/api/registry/${encodeURIComponent(name)}`
  return frame(look, {
    title: name ?? "Stacks",
    description:
      name === undefined
        ? "The public stacks: live data, entity by entity."
        : `The stack ${name}: entities, fields, views, versions.`,
    canonical: `${baseUrl}/stacks${name === undefined ? "" : `/${encodeURIComponent(name)}`}`,
    // Filled with the rest; empty, it takes no place.
    contents: name === undefined ? "" : html`<nav class="contents" aria-label="On this page" hidden></nav>`,
    main: html`<nav class="bar crumbs" aria-label="Breadcrumb">
        <ol>
          <li><a href="${root}/">${look.title}</a></li>
          ${name === undefined ? "" : html`<li><a href="${root}/stacks">Stacks</a></li>`}
          <li aria-current="page">${name ?? "Stacks"}</li>
        </ol>
      </nav>
      <article>
        <h1>${name ?? "Stacks"}</h1>
        <div id="stacks" data-api="${apiUrl}" data-docs="${baseUrl}" data-stream="${new URL(streamUrl).origin}" data-stack="${name ?? ""}">
          <p class="wait">
            This page is read from the platform API by a script. Without one, read
            <a href="${json}">the same as JSON</a>${name === undefined ? "" : html`, <a href="${json}/schema">its schema</a>`}.
          </p>
        </div>
      </article>`,
  })
}

/** The same for whoever asks for no HTML: where the registry is. */
export const stacksMarkdown = (baseUrl: string, apiUrl: string, name?: string): string => {
  const registry = `${apiUrl}/api/registry`
  if (name === undefined)
    return `# Stacks\n\n- [All public stacks, as JSON](${registry})\n- [How the registry is read](${baseUrl}/registry.md)\n`
  const stack = encodeURIComponent(name)
  return `# The stack ${name.replaceAll(/[^\w.-]/g, "")}\n\n- [What it is, as JSON](${registry}/${stack})\n- [Its schema](${registry}/${stack}/schema)\n- [Its AST](${registry}/stacks/${stack}/ast)\n- [All stacks](${registry})\n- [How the registry is read](${baseUrl}/registry.md)\n`
}
