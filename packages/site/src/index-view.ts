import { html } from "hono/html"
import { describe } from "./boxes.ts"
import { type Html, type Look, frame } from "./frame.ts"
import { pageLink } from "./links.ts"

/** The home page of a folder without an index: all its pages, by section. */
export const indexView = (look: Look): Html => {
  const { root, baseUrl, title, navigation } = look
  return frame(look, {
    title,
    canonical: `${baseUrl}/`,
    main: html`<article class="home">
      <h1>${title}</h1>
      <div class="sections">
        ${navigation.sections.map(
          ({ name, pages }) =>
            html`<section>
              <h2>${name}</h2>
              <ul class="pages">
                ${pages.map((page) => html`<li><a href="${pageLink(root, page.slug)}">${page.title}</a>${page.description === "" ? "" : html` <span>${describe(page)}</span>`}</li> `)}
              </ul>
            </section> `,
        )}
      </div>
    </article>`,
  })
}
