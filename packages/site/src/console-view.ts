import { html, raw } from "hono/html"
import type { Html, Look } from "./frame.ts"
import type { SitePage } from "./markdown.ts"
import { pageView } from "./views.ts"

/**
 * The console, and behind one click its manual.
 * @param text the page's Markdown as HTML
 */
export const consoleView = (look: Look, apiUrl: string, page: SitePage, text: string): Html => {
  const titleEnd = text.indexOf("</h1>") + "</h1>".length
  return pageView(
    look,
    page,
    html`${raw(text.slice(0, titleEnd))}
      <details class="manual">
        <summary>How the console works</summary>
        ${raw(text.slice(titleEnd))}
      </details>
      <div id="frame.console" class="console" data-api="${apiUrl}">
        <p class="note">
          With JavaScript, this place asks for a key and shows the account. Without it, the same requests work from a terminal:
          <code>curl ${apiUrl}/api/usage -H "Authorization: Bearer $SVC_API_KEY"</code>
        </p>
      </div>`,
    { bundle: "console", layout: "wide app", hasContents: false },
  )
}
