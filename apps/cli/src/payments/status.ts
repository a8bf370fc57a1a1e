import type { Context, Outcome } from "../command.ts"
import { pairs } from "../output/table.ts"
import { openRelay } from "../services/relay.ts"

/** `svc status SIGNATURE`: whether a transaction landed, as far as the provider knows. */
export const status = async (context: Context): Promise<Outcome> => {
  const [signature = ""] = context.args
  const relay = await openRelay(context, "transaction:inspect")
  const answer = await relay.signatureStatus({ signature, searchTransactionHistory: true })
  const { status: found, contextSlot } = answer
  const commitment = found?.confirmationStatus ?? "processed"
  const failed = found !== null && found.err !== null
  const rows = [
    ["Signature", signature],
    ["Status", found === null ? "not found: it may still land" : commitment],
    ["Slot", String(found?.slot ?? "")],
    ["Error", failed ? JSON.stringify(found.err) : ""],
    ["Searched up to slot", String(contextSlot)],
    ["Next", found === null ? "svc send with the same bytes finds out whether it lands or has expired" : ""],
  ] as const
  return {
    json: answer,
    text: (style) => pairs(rows, style),
    // A block that is only processed may still be dropped.
    exit: commitment === "processed" ? 3 : failed ? 1 : 0,
  }
}
