import type { Context, Outcome } from "../context.ts"
import { openRelay } from "../services/relay.ts"
import { pairs, plain } from "../output/table.ts"
import { readTransaction } from "./transaction.ts"

/** `svc simulate [FILE|-]`: what a transaction would do, signed or not. */
export const simulate = async (context: Context): Promise<Outcome> => {
  const transaction = await readTransaction(context)
  const relay = await openRelay(context, "simulate", "transaction:inspect")
  const answer = await relay.simulate({ transaction })
  const about = pairs([
    ["Result", answer.err === null ? "it would succeed" : "it would fail"],
    ["Error", answer.err === null ? "" : JSON.stringify(answer.err)],
    ["Compute units", answer.unitsConsumed === null ? "" : String(answer.unitsConsumed)],
    ["Slot", String(answer.contextSlot)],
  ])
  const logs = (answer.logs ?? []).map((line) => `  ${plain(line)}`)
  return { json: answer, text: [about, ...logs].join("\n"), exit: answer.err === null ? 0 : 1 }
}
