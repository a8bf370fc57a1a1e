import type { Block } from "../blocks.ts"
import { RpcError } from "../rpc.ts"
import { resultOf, type Landed } from "../ledger.ts"
import { base64, bytesOf } from "./wire.ts"

/** A landed transaction as getBlock lists it. Throws RpcError for a version that the caller did not ask for. */
const showTransaction = (landed: Landed, maxSupportedTransactionVersion: number | undefined) => {
  const { balances, fee, loaded, run, transaction } = landed
  const { version } = transaction.message
  if (version !== "legacy" && (maxSupportedTransactionVersion ?? -1) < version) {
    throw new RpcError(
      "unsupportedTransactionVersion",
      `Transaction version (${version}) is not supported by the requesting client. ` +
        `Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    )
  }
  return {
    ...(maxSupportedTransactionVersion === undefined ? {} : { version }),
    transaction: [base64(bytesOf(transaction)), "base64"],
    meta: {
      err: run.err,
      status: resultOf(run.err),
      fee,
      preBalances: balances.pre,
      postBalances: balances.post,
      innerInstructions: run.innerInstructions,
      logMessages: run.logs,
      preTokenBalances: null,
      postTokenBalances: null,
      rewards: null,
      loadedAddresses: loaded,
      ...(run.returnData === null ? {} : { returnData: run.returnData }),
      computeUnitsConsumed: run.unitsConsumed,
    },
  }
}

/** A block as getBlock shows it. Rewards are never paid here. */
export const showBlock = (
  { height, time, blockhash, parent }: Block,
  landed: readonly Landed[],
  maxSupportedTransactionVersion: number | undefined,
) => ({
  blockHeight: height,
  blockTime: time,
  blockhash,
  parentSlot: parent.slot,
  previousBlockhash: parent.blockhash,
  transactions: landed.map((one) => showTransaction(one, maxSupportedTransactionVersion)),
})
