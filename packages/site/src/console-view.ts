import { html, raw } from "hono/html"
import type { Html, Look } from "./frame.ts"
import type { SitePage } from "./markdown.ts"
import { pageView } from "./views.ts"

/**
 * The console: its place behind the page's first paragraph, what it is below.
 * @param text the page's Markdown as HTML
 */
export const consoleView = (look: Look, apiUrl: string, page: SitePage, text: string): Html => {
  const middle = text.indexOf("</p>") + "</p>".length
  return pageView(
    look,
    page,
    html`${raw(text.slice(0, middle))}
      <div id="frame.console" class="console" data-api="${apiUrl}">
        <p class="note">
          With JavaScript, this place asks for a key and shows the account. Without it, the same requests work from a terminal:
          <code>curl ${apiUrl}/api/usage -H "Authorization: Bearer $SVC_API_KEY"</code>
        </p>
      </div>
      ${raw(text.slice(middle))}`,
    { bundle: "console", isWide: true, isHome: true },
  )
}
