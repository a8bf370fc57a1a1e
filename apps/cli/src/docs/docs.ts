import type { Context, Outcome } from "../context.ts"
import { usageError } from "../errors.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { callTool } from "../services/mcp.ts"
import { serviceUrl } from "../settings/settings.ts"
import { plain, plainLines } from "../output/table.ts"

const docsUrl = (context: Context): Promise<string> => serviceUrl("docs", context.options, context.env, context.folder)

const wholeNumber = (context: Context, name: string, command: string): number | undefined => {
  const text = context.options[name]
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw usageError(`--${name} takes a whole number.`, command)
  return Number(text)
}

const defined = (values: Readonly<Record<string, string | number | undefined>>): Record<string, string | number> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** `svc docs search QUERY`: the words of the query may come as several arguments. */
export const searchDocs = async (context: Context): Promise<Outcome> => {
  const query = context.args.join(" ")
  const { structured, text } = await callTool(
    await docsUrl(context),
    "search_docs",
    defined({ query, limit: wholeNumber(context, "limit", "docs search"), cursor: context.options["cursor"] }),
  )
  const results = listOf(structured, "results")
  const blocks = results.map((result) => {
    const anchor = textOf(result, "anchor")
    const slug = plain(textOf(result, "slug")) + (anchor === "" ? "" : `#${plain(anchor)}`)
    return `${context.bold(plain(textOf(result, "title")))}  ${slug}\n  ${plain(textOf(result, "snippet"))}`
  })
  const cursor = textOf(structured, "next_cursor")
  if (cursor !== "") context.note(`More: svc docs search ${JSON.stringify(query)} --cursor ${plain(cursor)}`)
  if (results.length > 0) context.note("A page: svc docs fetch SLUG")
  // Without results the server says why and what to try.
  return { json: structured, text: results.length === 0 ? plainLines(text) : blocks.join("\n\n") }
}

/** `svc docs fetch SLUG`: the page as Markdown. */
export const fetchDocs = async (context: Context): Promise<Outcome> => {
  const [slug = ""] = context.args
  const { structured } = await callTool(
    await docsUrl(context),
    "fetch_page",
    defined({
      slug,
      section: context.options["section"],
      cursor: context.options["cursor"],
      max_tokens: wholeNumber(context, "max-tokens", "docs fetch"),
    }),
  )
  const cursor = textOf(structured, "next_cursor")
  if (cursor !== "") context.note(`More: svc docs fetch ${textOf(structured, "slug")} --cursor ${plain(cursor)}`)
  return { json: structured, text: plainLines(textOf(structured, "content")).trimEnd() }
}
