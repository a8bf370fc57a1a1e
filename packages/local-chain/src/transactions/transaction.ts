import type { Block } from "../blocks.ts"
import { RpcError } from "../rpc.ts"
import { resultOf, type Landed } from "../ledger.ts"
import { base58 } from "@svc/common/base58"
import { base64, bytesOf, instructionsOf, lookupsOf, signaturesOf, type Wire } from "./wire.ts"

type Options = { encoding: "json" | "base58" | "base64"; maxSupportedTransactionVersion?: number | undefined }

/** A landed transaction as getBlock lists it. Throws RpcError for a version that the caller did not ask for. */
const showTransaction = (landed: Landed, { encoding, maxSupportedTransactionVersion }: Options) => {
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
    transaction: encoding === "json" ? asJson(transaction) : [text(transaction, encoding), encoding],
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

/** A block as getBlock shows it; rewards are never paid here. */
export const showBlock = (
  { height, time, blockhash, parent, signatures }: Block,
  landed: readonly Landed[],
  { transactionDetails, rewards, ...options }: Options & { transactionDetails: string; rewards: boolean },
) => ({
  blockHeight: height,
  blockTime: time,
  blockhash,
  parentSlot: parent.slot,
  previousBlockhash: parent.blockhash,
  ...(transactionDetails === "full" ? { transactions: landed.map((one) => showTransaction(one, options)) } : {}),
  ...(transactionDetails === "signatures" ? { signatures } : {}),
  ...(rewards ? { rewards: [] } : {}),
})

const text = (wire: Wire, encoding: "base58" | "base64") => (encoding === "base58" ? base58 : base64)(bytesOf(wire))

const asJson = ({ message, ...transaction }: Wire) => ({
  signatures: signaturesOf(transaction),
  message: {
    accountKeys: message.staticAccounts,
    header: {
      numRequiredSignatures: message.header.numSignerAccounts,
      numReadonlySignedAccounts: message.header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: message.header.numReadonlyNonSignerAccounts,
    },
    instructions: instructionsOf(message).map(({ program, accounts, data }) => ({
      programIdIndex: program,
      accounts,
      data: base58(data),
      stackHeight: 1,
    })),
    recentBlockhash: message.lifetimeToken,
    addressTableLookups: lookupsOf(message)?.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
      accountKey: lookupTableAddress,
      writableIndexes,
      readonlyIndexes,
    })),
  },
})
