import type { Context, Outcome } from "../command.ts"
import { usageError } from "../errors.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { plain, plainLines } from "../output/table.ts"
import { hang } from "../output/wrap.ts"
import { callTool } from "../services/mcp.ts"
import { serviceUrl } from "../settings/settings.ts"

const wholeNumber = (context: Context, name: string, command: string): number | undefined => {
  const text = context.options[name]
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw usageError(`--${name} takes a whole number.`, command)
  return Number(text)
}

const defined = (values: Readonly<Record<string, string | number | undefined>>): Record<string, string | number> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** `svc docs search QUERY…`: searches the documentation for all words. */
export const searchDocs = async (context: Context): Promise<Outcome> => {
  const query = context.args.join(" ")
  const { structured, text } = await callTool(
    await serviceUrl("docs", context),
    "search_docs",
    defined({ query, limit: wholeNumber(context, "limit", "docs search"), cursor: context.options["cursor"] }),
  )
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
  const { section, cursor: after } = context.options
  const { structured } = await callTool(
    await serviceUrl("docs", context),
    "fetch_page",
    defined({ slug, section, cursor: after, max_tokens: wholeNumber(context, "max-tokens", "docs fetch") }),
  )
  const cursor = textOf(structured, "next_cursor")
  if (cursor !== "") context.note(`More: svc docs fetch ${textOf(structured, "slug")} --cursor ${plain(cursor)}`)
  return { json: structured, text: () => plainLines(textOf(structured, "content")).trimEnd() }
}
