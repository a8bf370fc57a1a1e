import { callApi, jsonOf } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { isObject } from "@svc/common/json-object"
import { textOf } from "../output/json-value.ts"
import { apiWithKey } from "../settings/key.ts"
import { pairs } from "../output/table.ts"

/** `svc session WEBSOCKET_URL [--scope S]`: a token of a few minutes for one stack. */
export const mintSession = async (context: Context): Promise<Outcome> => {
  const api = await apiWithKey(context)
  const { scope } = context.options
  const body = { websocket_url: context.args[0] ?? "", ...(scope === undefined ? {} : { scope }) }
  const answer = jsonOf(await callApi(api, "/ws/sessions", { method: "POST", body }), api.url)
  const seconds = isObject(answer) ? answer["expires_at"] : undefined
  // Date knows no more than 8.64e12 seconds.
  const known = typeof seconds === "number" && Math.abs(seconds) < 1e12
  return {
    json: answer,
    text: pairs([
      ["Token", textOf(answer, "token")],
      ["Type", textOf(answer, "token_type")],
      ["Scope", textOf(answer, "scope")],
      ["Expires", known ? new Date(seconds * 1000).toISOString() : ""],
    ]),
  }
}
