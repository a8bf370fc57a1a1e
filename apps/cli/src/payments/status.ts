import type { Context, Outcome } from "../context.ts"
import { openRelay } from "../services/relay.ts"
import { pairs } from "../output/table.ts"

/** `svc status SIGNATURE`: what became of a transaction, as far as the provider knows. */
export const status = async (context: Context): Promise<Outcome> => {
  const [signature = ""] = context.args
  const relay = await openRelay(context, "status", "transaction:inspect")
  const answer = await relay.signatureStatus({ signature, searchTransactionHistory: true })
  const found = answer.status
  const landed = found !== null && (found.confirmationStatus ?? "processed") !== "processed"
  const failed = found !== null && found.err !== null
  return {
    json: answer,
    text: pairs([
      ["Signature", signature],
      ["Status", found === null ? "not found: it may still land" : (found.confirmationStatus ?? "processed")],
      ["Slot", found === null ? "" : String(found.slot)],
      ["Error", failed ? JSON.stringify(found.err) : ""],
      ["Looked up to slot", String(answer.contextSlot)],
      ["Next", found === null ? "svc send with the same bytes finds out whether it lands or has expired" : ""],
    ]),
    // What is processed alone can still be dropped.
    exit: landed ? (failed ? 1 : 0) : 3,
  }
}
