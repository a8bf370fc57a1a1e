import type { Context, Outcome } from "../command.ts"
import { pairs, plain } from "../output/table.ts"
import { openRelay } from "../services/relay.ts"
import { readTransaction } from "./transaction.ts"

/** `svc simulate [FILE|-]`: what a transaction would do, signed or not. */
export const simulate = async (context: Context): Promise<Outcome> => {
  const transaction = await readTransaction(context)
  const relay = await openRelay(context, "transaction:inspect")
  const answer = await relay.simulate({ transaction })
  const { err, unitsConsumed, contextSlot, logs } = answer
  const rows = [
    ["Result", err === null ? "it would succeed" : "it would fail"],
    ["Error", err === null ? "" : JSON.stringify(err)],
    ["Compute units", String(unitsConsumed ?? "")],
    ["Slot", String(contextSlot)],
  ] as const
  return {
    json: answer,
    text: (style) => [pairs(rows, style), ...(logs ?? []).map((line) => `  ${plain(line)}`)].join("\n"),
    exit: err === null ? 0 : 1,
  }
}
