import { z } from "zod"
import { badRequest } from "../errors.ts"
import { isShallow } from "../upstream/exact-json.ts"
import { isAddress } from "@solana/kit"
import { checkTransaction, decodeBase64 } from "../wire.ts"
import * as fields from "./fields.ts"
import { KiB, readRoute } from "./route.ts"

export const maxAccounts = 16

const request = z.strictObject({
  transaction: fields.base64.meta({ description: "A wire transaction; its signatures may be all zeros." }),
  ...fields.chainView,
  sigVerify: z.boolean().default(false).meta({ description: "Whether to verify the signatures." }),
  replaceRecentBlockhash: z
    .boolean()
    .default(false)
    .meta({ description: "Whether to use a new blockhash; not with sigVerify." }),
  innerInstructions: z
    .boolean()
    .default(false)
    .meta({ description: "Whether to return the instructions that programs call." }),
  accounts: z
    .strictObject({ addresses: z.array(z.string()).meta({ description: `At most ${maxAccounts} base58 addresses.` }) })
    .optional()
    .meta({ description: "Accounts to return the state of." }),
})

const accountState = z.object({
  lamports: fields.exactU64,
  owner: z.string(),
  data: fields.encodedBytes,
  executable: z.boolean(),
  // Of u64::MAX, which most accounts have here, some gateways make a rounded number, a text or null.
  rentEpoch: fields.readableU64,
  space: fields.readableU64,
})

const response = z.object({
  contextSlot: fields.exactU64,
  err: fields.chainError.meta({ description: "null when the simulation succeeded." }),
  logs: z.array(z.string()).nullable(),
  unitsConsumed: fields.exactU64.nullable(),
  loadedAccountsDataSize: fields.exactU64.nullable(),
  returnData: z.object({ programId: z.string(), data: fields.encodedBytes }).nullable(),
  innerInstructions: z
    .array(z.any())
    .refine((value) => isShallow(value))
    .nullable(),
  accounts: z.array(accountState.nullable()).nullable(),
  replacementBlockhash: z.object({ blockhash: z.string(), lastValidBlockHeight: fields.exactU64 }).nullable(),
})

// A member that the provider omits is null.
const absent = Object.fromEntries(Object.keys(response.shape).map((name) => [name, null]))

const checkAccounts = (addresses: readonly string[]): void => {
  if (addresses.length > maxAccounts) {
    throw badRequest("invalid_accounts", "accounts.addresses", `must be at most ${maxAccounts}`)
  }
  const wrong = addresses.findIndex((address) => !isAddress(address))
  if (wrong !== -1) {
    throw badRequest("invalid_accounts", `accounts.addresses[${wrong}]`, "must be base58 of exactly 32 bytes")
  }
}

export const simulate = readRoute(
  {
    path: "/transactions/v1/simulate",
    operation: "simulate",
    summary: "Simulate a transaction",
    scope: "transaction:inspect",
    class: "inspect",
    method: "simulateTransaction",
    maxResponseBytes: 2048 * KiB,
    request,
    response,
    codes: ["invalid_base64", "transaction_too_large", "invalid_transaction", "invalid_options", "invalid_accounts"],
  },
  ({ transaction, accounts, commitment, minContextSlot, ...flags }, { maxBytes, verify }) => {
    if (flags.sigVerify && flags.replaceRecentBlockhash) {
      throw badRequest("invalid_options", "replaceRecentBlockhash", "cannot be combined with sigVerify")
    }
    if (accounts !== undefined) checkAccounts(accounts.addresses)
    checkTransaction(decodeBase64(transaction, "transaction", maxBytes), verify)
    const options = { ...fields.viewParams({ commitment, minContextSlot }), encoding: "base64", ...flags }
    const states = accounts && { accounts: { encoding: "base64", addresses: accounts.addresses } }
    return [transaction, { ...options, ...states }]
  },
  (result) => ({ ...absent, ...fields.flatWithSlot(result) }),
)
