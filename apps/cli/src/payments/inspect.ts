import type { Relay, Simulation } from "@svc/client"
import type { Context, Outcome } from "../command.ts"
import { pairs, plain } from "../output/table.ts"
import { withUnknownOutcome } from "../errors.ts"
import { openRelay } from "../services/relay.ts"
import { readTransaction } from "./transaction.ts"

/** `svc simulate [FILE|-]`: what a transaction would do, signed or not. */
export const simulate = async (context: Context): Promise<Outcome<Simulation>> => {
  const transaction = await readTransaction(context)
  const relay = await openRelay(context, "transaction:inspect")
  const answer = await relay.simulate({ transaction })
  // Programs read the rest from --json.
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

/** `svc status SIGNATURE`: whether a transaction landed, as far as the provider knows. */
export const status = async (context: Context): Promise<Outcome<Awaited<ReturnType<Relay["signatureStatus"]>>>> => {
  const [signature = ""] = context.args
  const answer = await openRelay(context, "transaction:inspect")
    .then((relay) => relay.signatureStatus({ signature, searchTransactionHistory: true }))
    .catch(withUnknownOutcome)
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
