import { isObject } from "@svc/common/json-object"
import type { Context, Outcome } from "../command.ts"
import { textOf } from "../output/json-value.ts"
import { pairs } from "../output/table.ts"
import { callJson } from "../services/api.ts"
import { apiWithKey } from "../settings/key.ts"

/** `svc session WEBSOCKET_URL [--scope S]`: a short-lived token for one stack. */
export const mintSession = async (context: Context): Promise<Outcome> => {
  const { scope } = context.options
  const body = { websocket_url: context.args[0] ?? "", scope }
  const answer = await callJson(await apiWithKey(context), "/ws/sessions", { method: "POST", body })
  const seconds = isObject(answer) ? answer["expires_at"] : undefined
  // A Date can't represent more than 8.64e12 seconds.
  const isTime = typeof seconds === "number" && Math.abs(seconds) < 1e12
  const rows = [
    ["Token", textOf(answer, "token")],
    ["Type", textOf(answer, "token_type")],
    ["Scope", textOf(answer, "scope")],
    ["Expires", isTime ? new Date(seconds * 1000).toISOString() : ""],
  ] as const
  return { json: answer, text: (style) => pairs(rows, style) }
}
