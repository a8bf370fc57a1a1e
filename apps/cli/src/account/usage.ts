import type { Context, Outcome } from "../command.ts"
import type { Usage } from "@svc/client"
import { labelled, type Labels } from "../output/labelled.ts"
import { table } from "../output/table.ts"
import { platformOf } from "../services/api.ts"
import { apiWithKey } from "../settings/key.ts"

const widest = 30

const headings = {
  id: undefined,
  name: "KEY",
  requests: "REQUESTS",
  refused: "REFUSED",
  sessions: "SESSIONS",
} as const satisfies Labels<Usage["days"][number]["keys"][number]>

/** `svc usage`: what the account's keys did, with a bar for each day. */
export const showUsage = async (context: Context): Promise<Outcome> => {
  const { days = "30" } = context.options
  const usage = await platformOf(await apiWithKey(context)).usage({ days: Number(days) })
  const rows = usage.days.flatMap(({ date, keys }) => keys.map((key) => ({ date, ...key })))
  const most = Math.max(1, ...rows.map(({ requests }) => requests))
  const barOf = (requests: number): string => "█".repeat(Math.ceil((requests / most) * widest))
  const lines = rows.map(({ date, ...key }, index) => [
    rows[index - 1]?.date === date ? "" : date,
    ...labelled(key, headings).map(([, cell]) => cell),
    barOf(key.requests),
  ])
  return {
    json: usage,
    text: (style) =>
      rows.length === 0
        ? `No use from ${usage.from} to ${usage.to}. Counts are up to 10 seconds late.`
        : table(["DAY (UTC)", ...Object.values(headings).flatMap((one) => one ?? []), ""], lines, style),
  }
}
