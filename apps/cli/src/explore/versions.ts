import type { Context, Outcome } from "../command.ts"
import { labelled, listOf, rowOf, textOf } from "../output/json-value.ts"
import { pairs, table } from "../output/table.ts"
import { callJson, readPages } from "../services/api.ts"
import { apiForReading } from "../settings/key.ts"
import { queryOf, stackPath } from "./stack.ts"

/** The changes of a diff, one a row. */
export const changeRows = (diff: unknown): string[][] =>
  listOf(diff, "changes").map((change) => [
    textOf(change, "breaking") === "true" ? "breaking" : "compatible",
    textOf(change, "path"),
    textOf(change, "text"),
  ])

/** `svc versions STACK`: every version, newest first. */
export const versions = async (context: Context): Promise<Outcome> => {
  const [name = ""] = context.args
  const list = await readPages(await apiForReading(context), stackPath(name, "/versions"))
  const rows = list.map((version) => [
    textOf(version, "version") + (textOf(version, "current") === "true" ? " (current)" : ""),
    ...rowOf(version, ["published_at", "bump", "verdict", "changes", "message"]),
  ])
  const heading = ["VERSION", "PUBLISHED", "BUMP", "VERDICT", "CHANGES", "MESSAGE"]
  return { json: list, text: (style) => table(heading, rows, style) }
}

/** `svc diff STACK [--from N] [--to M]`: what changed for readers. */
export const diff = async (context: Context): Promise<Outcome> => {
  const [name = ""] = context.args
  const query = queryOf({ from: context.options["from"], to: context.options["to"] })
  const answer = await callJson(await apiForReading(context), stackPath(name, `/diff${query}`))
  const rows = changeRows(answer)
  return {
    json: answer,
    text: (style) => {
      const between = `${textOf(answer, "from")} to ${textOf(answer, "to")}`
      const verdict = labelled(answer, { verdict: "Verdict", bump: "Bump" })
      const about = pairs([["Stack", name], ["Versions", between], ...verdict], style)
      return rows.length === 0 ? about : `${about}\n\n${table(["VERDICT", "WHERE", "CHANGE"], rows, style)}`
    },
  }
}
