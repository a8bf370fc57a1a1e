import { keyHint } from "@svc/keys"
import type { Context, Outcome } from "../command.ts"
import { pairs, table } from "../output/table.ts"
import { chooseContext, readContexts } from "../settings/contexts.ts"
import { readCredentials } from "../settings/credentials.ts"

/** `svc contexts`: the copies of the platform that are stored. */
export const listContexts = async (context: Context): Promise<Outcome> => {
  const { contexts, current } = await readContexts(context.folder)
  const credentials = await readCredentials(context.folder)
  const listed = Object.entries(contexts).map(([name, urls]) => {
    const key = credentials[urls.api_url ?? ""]?.api_key
    return Object.assign({ name, current: name === current }, urls, {
      key_hint: key === undefined ? null : keyHint(key),
    })
  })
  if (listed.length === 0) context.note("None is stored. Next: svc auth signup, or svc init")
  const rows = listed.map(({ name, current: isCurrent, api_url = "", docs_url = "", key_hint }) => [
    isCurrent ? `${name} (current)` : name,
    api_url,
    docs_url,
    key_hint ?? "",
  ])
  return { json: listed, text: (style) => table(["CONTEXT", "API", "DOCUMENTATION", "KEY"], rows, style) }
}

/** `svc use NAME`: makes a context the current one. */
export const use = async (context: Context): Promise<Outcome> => {
  const [name = ""] = context.args
  const urls = { name, ...(await chooseContext(context.folder, name)) }
  return { json: urls, text: (style) => pairs(Object.entries(urls), style) }
}
