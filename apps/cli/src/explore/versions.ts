import type { Diff } from "@svc/client"
import type { Context, Outcome } from "../command.ts"
import { pairs, table } from "../output/table.ts"
import { readPages } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { readDiff, readPartOf, registryName } from "./stack.ts"

export const changeRows = ({ changes }: Pick<Diff, "changes">): string[][] =>
  changes.map(({ breaking, path, text }) => [breaking ? "breaking" : "compatible", path, text])

/** `svc versions STACK`: every version, newest first. */
export const versions = async (context: Context): Promise<Outcome> => {
  const name = registryName(context.args[0] ?? "")
  const list = await readPartOf(context, await apiForReading(context), name, (api) =>
    readPages(api, ({ registry }, page) => registry.versions(name, page)),
  )
  const rows = list.map(({ version, current, published_at, bump, verdict, changes, message }) => [
    `${version}${current ? " (current)" : ""}`,
    published_at,
    bump,
    verdict,
    changes,
    message,
  ])
  const heading = ["VERSION", "PUBLISHED", "BUMP", "VERDICT", "CHANGES", "MESSAGE"]
  return { json: list, text: (style) => table(heading, rows, style) }
}

/** `svc diff STACK [--from N] [--to M]`: what changed for readers. */
export const diff = async (context: Context): Promise<Outcome> => {
  const [name = ""] = context.args
  const { from, to } = context.options
  const between = { ...(from !== undefined && { from: Number(from) }), ...(to !== undefined && { to: Number(to) }) }
  const answer = await readPartOf(context, await apiForReading(context), name, (api) => readDiff(api, name, between))
  const rows = changeRows(answer)
  const about = [
    ["Stack", name],
    ["Versions", `${answer.from} to ${answer.to}`],
    ["Verdict", answer.verdict],
    ["Bump", answer.bump],
  ] as const
  return {
    json: answer,
    text: (style) => {
      const tables = [pairs(about, style)]
      if (rows.length > 0) tables.push(table(["VERDICT", "WHERE", "CHANGE"], rows, style))
      return tables.join("\n\n")
    },
  }
}
