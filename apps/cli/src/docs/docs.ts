import { shellWord } from "@svc/common/foreign-text"
import type { Context, Outcome } from "../command.ts"
import { CliError, onCode } from "../errors.ts"
import { plain, plainLines } from "../output/table.ts"
import { hang } from "../output/wrap.ts"
import { callTool } from "../services/mcp.ts"
import { serviceUrl } from "../settings/settings.ts"

/** `svc docs search QUERY…`: searches the documentation for all words. */
export const searchDocs = async (context: Context): Promise<Outcome> => {
  const query = context.args.join(" ")
  const { limit, cursor: after } = context.options
  const { structured, text } = await callTool(context, await serviceUrl("docs", context), "search_docs", {
    query,
    ...(limit !== undefined && { limit: Number(limit) }),
    ...(after !== undefined && { cursor: after }),
  })
  const { results, next_cursor: cursor } = structured
  if (cursor !== undefined) context.note(`More: svc docs search ${shellWord(query)} --cursor ${shellWord(cursor)}`)
  if (results.length > 0) context.note("To read a page: svc docs fetch SLUG")
  return {
    json: structured,
    text: ({ bold, cyan, width }) => {
      // Without results, the server says why and what to try.
      if (results.length === 0) return plainLines(text)
      const blocks = results.map(({ slug, anchor, title, snippet }) => {
        const [name, place] = [plain(title), plain(anchor === "" ? slug : `${slug}#${anchor}`)]
        const gap = name.length + place.length + 2 > (width ?? Infinity) ? "\n  " : "  "
        return `${bold(name)}${gap}${cyan(place)}\n${hang("  ", plain(snippet), width)}`
      })
      return blocks.join("\n\n")
    },
  }
}

/** `svc docs fetch SLUG`: a page as Markdown. */
export const fetchDocs = async (context: Context): Promise<Outcome> => {
  const [slug = ""] = context.args
  const { section, cursor: after, "max-tokens": most } = context.options
  const { structured } = await callTool(context, await serviceUrl("docs", context), "fetch_page", {
    slug,
    ...(section !== undefined && { section }),
    ...(after !== undefined && { cursor: after }),
    ...(most !== undefined && { max_tokens: Number(most) }),
  }).catch(
    onCode(undefined, (error): never => {
      const { code, message, hint = "" } = error
      // The server advises callers of its tools.
      const next = hint.replace("search_docs finds", "svc docs search finds")
      throw next === hint ? error : new CliError(code, message, { next })
    }),
  )
  const { slug: own, content, next_cursor: cursor } = structured
  if (cursor !== undefined) context.note(`More: svc docs fetch ${shellWord(own)} --cursor ${shellWord(cursor)}`)
  return { json: structured, text: () => plainLines(content).trimEnd() }
}
