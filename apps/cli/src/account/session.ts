import type { Context, Outcome } from "../command.ts"
import { pairs } from "../output/table.ts"
import { platformOf } from "../services/api.ts"
import { apiWithKey } from "../settings/key.ts"

/** `svc session WEBSOCKET_URL [--scope S]`: a short-lived token for one stack. */
export const mintSession = async (context: Context): Promise<Outcome> => {
  const { scope } = context.options
  const answer = await platformOf(await apiWithKey(context)).mintSession({
    websocket_url: context.args[0] ?? "",
    ...(scope !== undefined && { scope }),
  })
  const { token, token_type, expires_at: seconds } = answer
  const rows = [
    ["Token", token],
    ["Type", token_type],
    ["Scope", answer.scope],
    // A Date can't represent more than 8.64e12 seconds.
    ["Expires", Math.abs(seconds) < 1e12 ? new Date(seconds * 1000).toISOString() : ""],
  ] as const
  return { json: answer, text: (style) => pairs(rows, style) }
}
