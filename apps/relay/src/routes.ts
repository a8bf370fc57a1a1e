import { validate } from "@svc/http"
import type { z } from "zod"
import { readBlockHeight, readFee, readLatestBlockhash, readSignatureStatus, readSimulation } from "./answers.ts"
import { badRequest } from "./errors.ts"
import * as schemas from "./schemas.ts"
import {
  checkMessage,
  checkSigned,
  checkTransaction,
  decodeBase64,
  isBase58Address,
  isBase58Signature,
} from "./wire.ts"
import type { Verify } from "./wire.ts"

export type Scope = "transaction:inspect" | "transaction:send"
/** What a request counts as: its rate bucket and its upstream timeout. */
export type RequestClass = "inspect" | "status" | "send"

/** What applies to the bytes of this request: the settings, lowered by the caller's token. */
type WireRules = { readonly maxBytes: number; readonly verify: Verify }

type Prepared = {
  readonly params: readonly unknown[]
  /** Of a send: the transaction's id, derived before anybody is called. */
  readonly signature?: string
}

export type Route = {
  readonly path: string
  readonly operation: string
  readonly summary: string
  readonly scope: Scope
  readonly class: RequestClass
  readonly method: string
  readonly maxAnswerBytes: number
  readonly request: z.ZodType
  readonly response: z.ZodType
  /** Checks a JSON body, by its schema and beyond it, and makes the upstream call's parameters. */
  readonly prepare: (body: unknown, rules: WireRules) => Prepared | Promise<Prepared>
  /** Makes the answer of the provider's result; throws when that is malformed. */
  readonly read: (result: unknown) => unknown
}

const KiB = 1024
const maxAccounts = 16

const chainView = ({ commitment, minContextSlot }: z.output<typeof schemas.latestBlockhashRequest>) => ({
  commitment: commitment ?? "confirmed",
  ...minSlot(minContextSlot),
})

// As a JSON number, exact beyond 2^53 too.
const minSlot = (slot: string | null | undefined) => (slot == null ? {} : { minContextSlot: JSON.rawJSON(slot) })

const row = <Body>(
  route: Omit<Route, "prepare" | "request"> & {
    readonly request: z.ZodType<Body>
    readonly prepare: (body: Body, rules: WireRules) => Prepared | Promise<Prepared>
  },
): Route => ({ ...route, prepare: (body, rules) => route.prepare(validate(route.request, body), rules) })

/** The six routes. */
export const routes: readonly Route[] = [
  row({
    path: "/transactions/v1/latest-blockhash",
    operation: "latest_blockhash",
    summary: "The latest blockhash and how long it is valid",
    scope: "transaction:inspect",
    class: "inspect",
    method: "getLatestBlockhash",
    maxAnswerBytes: 64 * KiB,
    request: schemas.latestBlockhashRequest,
    response: schemas.latestBlockhashResponse,
    prepare: (body) => ({ params: [chainView(body)] }),
    read: readLatestBlockhash,
  }),
  row({
    path: "/transactions/v1/fee",
    operation: "fee",
    summary: "What a message costs",
    scope: "transaction:inspect",
    class: "inspect",
    method: "getFeeForMessage",
    maxAnswerBytes: 64 * KiB,
    request: schemas.feeRequest,
    response: schemas.feeResponse,
    prepare: (body, { maxBytes, verify }) => {
      checkMessage(decodeBase64(body.message, "message", maxBytes), verify)
      return { params: [body.message, chainView(body)] }
    },
    read: readFee,
  }),
  row({
    path: "/transactions/v1/simulate",
    operation: "simulate",
    summary: "What a transaction would do",
    scope: "transaction:inspect",
    class: "inspect",
    method: "simulateTransaction",
    maxAnswerBytes: 2048 * KiB,
    request: schemas.simulateRequest,
    response: schemas.simulateResponse,
    prepare: ({ transaction, sigVerify, replaceRecentBlockhash, innerInstructions, accounts, ...view }, rules) => {
      if (sigVerify && replaceRecentBlockhash) {
        throw badRequest("invalid_options", "replaceRecentBlockhash", "cannot be combined with sigVerify")
      }
      if (accounts !== undefined) checkAccounts(accounts.addresses)
      checkTransaction(decodeBase64(transaction, "transaction", rules.maxBytes), rules.verify)
      const options = { ...chainView(view), encoding: "base64", sigVerify, replaceRecentBlockhash, innerInstructions }
      return {
        params: [
          transaction,
          accounts ? { ...options, accounts: { encoding: "base64", addresses: accounts.addresses } } : options,
        ],
      }
    },
    read: readSimulation,
  }),
  row({
    path: "/transactions/v1/signature-status",
    operation: "signature_status",
    summary: "What became of a transaction",
    scope: "transaction:inspect",
    class: "status",
    method: "getSignatureStatuses",
    maxAnswerBytes: 64 * KiB,
    request: schemas.signatureStatusRequest,
    response: schemas.signatureStatusResponse,
    prepare: ({ signature, searchTransactionHistory }) => {
      if (!isBase58Signature(signature)) {
        throw badRequest("invalid_signature", "signature", "must be base58 of exactly 64 bytes")
      }
      return { params: [[signature], { searchTransactionHistory }] }
    },
    read: readSignatureStatus,
  }),
  row({
    path: "/transactions/v1/block-height",
    operation: "block_height",
    summary: "The current block height",
    scope: "transaction:inspect",
    class: "status",
    method: "getBlockHeight",
    maxAnswerBytes: 64 * KiB,
    request: schemas.blockHeightRequest,
    response: schemas.blockHeightResponse,
    prepare: (body) => ({ params: [chainView(body)] }),
    read: readBlockHeight,
  }),
  row({
    path: "/transactions/v1/send",
    operation: "send",
    summary: "Submit a signed transaction, once",
    scope: "transaction:send",
    class: "send",
    method: "sendTransaction",
    maxAnswerBytes: 64 * KiB,
    request: schemas.sendRequest,
    response: schemas.sendResponse,
    prepare: async ({ transaction, skipPreflight, preflightCommitment, minContextSlot }, { maxBytes, verify }) => {
      const signature = await checkSigned(decodeBase64(transaction, "transaction", maxBytes), verify)
      const options = {
        encoding: "base64",
        skipPreflight,
        preflightCommitment,
        maxRetries: 0,
        ...minSlot(minContextSlot),
      }
      return { params: [transaction, options], signature }
    },
    // Judged before: see send.ts.
    read: (signature) => ({ signature }),
  }),
]

const checkAccounts = (addresses: readonly string[]): void => {
  if (addresses.length > maxAccounts) {
    throw badRequest("invalid_accounts", "accounts.addresses", `must be at most ${maxAccounts}`)
  }
  const wrong = addresses.findIndex((address) => !isBase58Address(address))
  if (wrong !== -1) {
    throw badRequest("invalid_accounts", `accounts.addresses[${wrong}]`, "must be base58 of exactly 32 bytes")
  }
}
