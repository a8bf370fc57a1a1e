import type { Context, Outcome } from "../command.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { plain, plainLines } from "../output/table.ts"
import { hang } from "../output/wrap.ts"
import { callTool } from "../services/mcp.ts"
import { serviceUrl } from "../settings/settings.ts"

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

/** `svc docs search QUERY…`: searches the documentation for all words. */
export const searchDocs = async (context: Context): Promise<Outcome> => {
  const query = context.args.join(" ")
  const { limit, cursor: after } = context.options
  const { structured, text } = await callTool(await serviceUrl("docs", context), "search_docs", {
    query,
    limit: numberOf(limit),
    cursor: after,
  })
  const results = listOf(structured, "results")
  const cursor = textOf(structured, "next_cursor")
  if (cursor !== "") context.note(`More: svc docs search ${JSON.stringify(query)} --cursor ${plain(cursor)}`)
  if (results.length > 0) context.note("To read a page: svc docs fetch SLUG")
  return {
    json: structured,
    text: ({ bold, cyan, width }) => {
      // Without results, the server says why and what to try.
      if (results.length === 0) return plainLines(text)
      const blocks = results.map((result) => {
        const anchor = textOf(result, "anchor")
        const slug = plain(textOf(result, "slug")) + (anchor === "" ? "" : `#${plain(anchor)}`)
        const title = plain(textOf(result, "title"))
        const gap = title.length + slug.length + 2 > (width ?? Infinity) ? "\n  " : "  "
        return `${bold(title)}${gap}${cyan(slug)}\n${hang("  ", plain(textOf(result, "snippet")), width)}`
      })
      return blocks.join("\n\n")
    },
  }
}

/** `svc docs fetch SLUG`: a page as Markdown. */
export const fetchDocs = async (context: Context): Promise<Outcome> => {
  const [slug = ""] = context.args
  const { section, cursor: after, "max-tokens": most } = context.options
  const { structured } = await callTool(await serviceUrl("docs", context), "fetch_page", {
    slug,
    section,
    cursor: after,
    max_tokens: numberOf(most),
  })
  const cursor = textOf(structured, "next_cursor")
  if (cursor !== "") context.note(`More: svc docs fetch ${textOf(structured, "slug")} --cursor ${plain(cursor)}`)
  return { json: structured, text: () => plainLines(textOf(structured, "content")).trimEnd() }
}
