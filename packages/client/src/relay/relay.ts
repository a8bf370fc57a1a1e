import { type Clock, systemClock } from "../http/clock.ts"
import { aboutSubmission, asSvcError } from "../http/error.ts"
import { type Answer, baseUrl, errorOf, type Fetch, request } from "../http/http.ts"
import { isObject, nullable, object, type Reader, strange, text, u64 } from "../http/json.ts"
import type { TokenSource } from "../platform/session.ts"
import { readSimulation, readStatus } from "./relay-answers.ts"
import { asBase64, readSigned } from "./wire.ts"

/** How final a block must be. */
export type Commitment = "processed" | "confirmed" | "finalized"

export type RelayOptions = {
  /** The relay's origin, `https://relay.example`. */
  readonly relayUrl: string
  /** The source of tokens: `createSession`. */
  readonly session: TokenSource
  /** Instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

/** Ends a call early. */
export type Abortable = { readonly signal?: AbortSignal | undefined }

/** `commitment` defaults to confirmed. `minContextSlot`: the provider must have reached this slot. */
export type ChainView = { readonly commitment?: Commitment | undefined; readonly minContextSlot?: bigint | undefined }

/** A transaction as base64 or bytes. */
export type Transaction = string | Uint8Array

export type SendOptions = {
  /** Fully signed. */
  readonly transaction: Transaction
  /** Skips the provider's simulation; default false. */
  readonly skipPreflight?: boolean | undefined
  /** The commitment of the simulation; default confirmed. */
  readonly preflightCommitment?: Commitment | undefined
  readonly minContextSlot?: bigint | undefined
}

export type SimulateOptions = ChainView & {
  /** May be unsigned: signatures of zeros. */
  readonly transaction: Transaction
  /** Checks the signatures; default false. */
  readonly sigVerify?: boolean | undefined
  /** Uses a fresh blockhash; can't be combined with `sigVerify`; default false. */
  readonly replaceRecentBlockhash?: boolean | undefined
  readonly innerInstructions?: boolean | undefined
  /** At most 16 base58 addresses. Their state after the simulation is returned. */
  readonly accounts?: readonly string[] | undefined
}

export const readTimeoutMs = 12_000
export const sendTimeoutMs = 20_000

// JSON leaves out what is undefined.
const chainView = ({ commitment, minContextSlot }: ChainView) => ({
  commitment,
  minContextSlot: minContextSlot?.toString(),
})

const latestBlockhash = object({ blockhash: text, contextSlot: u64, lastValidBlockHeight: u64 })
const fee = object({ feeLamports: nullable(u64), contextSlot: u64 })
const sent = object({ signature: text })

// The relay has sent nothing, and may accept another token.
const isTokenRefusal = ({ status, header, body }: Answer): boolean =>
  status === 401 &&
  header("x-svc-upstream-attempted") === "false" &&
  isObject(body) &&
  String(body["code"]).startsWith("token-")

/**
 * The relay's endpoints. Every u64 is a `bigint`. Reads end within 12 seconds, a send within 20. Errors are SvcError; those
 * of `send` always have `submissionState` and `signature`.
 *
 * @throws TypeError unless `relayUrl` is an http or https URL.
 * @example
 * const relay = createRelay({ relayUrl: "https://relay.example", session })
 * const { blockhash, lastValidBlockHeight } = await relay.latestBlockhash()
 */
export const createRelay = ({ relayUrl, session, fetch, clock = systemClock }: RelayOptions) => {
  const url = baseUrl(relayUrl, "relayUrl")

  const tokenOf = async (source: () => Promise<string>): Promise<string> => {
    try {
      return await source()
    } catch (error) {
      // Without a token nothing was sent.
      throw aboutSubmission(asSvcError(error, "token-missing", "There is no session token"), "not_submitted", "")
    }
  }

  const ask = async (
    route: string,
    body: object,
    { signal }: Abortable,
    timeoutMs = readTimeoutMs,
  ): Promise<unknown> => {
    const call = { url: `${url}/transactions/v1/${route}`, method: "POST", body, timeoutMs, signal } as const
    const post = (bearer: string) => request(fetch, clock, { ...call, bearer })
    const token = await tokenOf(session.token)
    let answer = await post(token)
    const { renew } = session
    if (renew !== undefined && isTokenRefusal(answer)) answer = await post(await tokenOf(() => renew(token)))
    if (answer.status !== 200) throw errorOf(answer)
    return answer.body
  }

  const read = async <Value>(route: string, body: object, options: Abortable, reader: Reader<Value>): Promise<Value> =>
    reader(await ask(route, body, options), "object")

  return {
    /** The relay's URL without a trailing slash. */
    url,
    /** A blockhash to sign with, and the block height up to which it is valid (about 150 blocks or a minute). */
    latestBlockhash: (options: ChainView & Abortable = {}) =>
      read("latest-blockhash", chainView(options), options, latestBlockhash),
    /** The block height, which counts blocks, not slots. */
    blockHeight: (options: ChainView & Abortable = {}) =>
      read("block-height", chainView(options), options, object({ blockHeight: u64 })),
    /** The fee of a compiled message (not of a transaction); null if its blockhash has expired or is unknown. */
    fee: ({ message, ...options }: { readonly message: Transaction } & ChainView & Abortable) =>
      read("fee", { message: asBase64(message), ...chainView(options) }, options, fee),
    /** Simulates a transaction. If it would fail, `err` is set; that isn't an error of the call. */
    simulate: (options: SimulateOptions & Abortable) => {
      const { transaction, accounts, sigVerify, replaceRecentBlockhash, innerInstructions } = options
      const body = {
        transaction: asBase64(transaction),
        ...chainView(options),
        sigVerify,
        replaceRecentBlockhash,
        innerInstructions,
        accounts: accounts && { addresses: accounts },
      }
      return read("simulate", body, options, readSimulation)
    },
    /**
     * Sends a transaction once, without finding out what becomes of it: prefer `submit`. An error's `submissionState` is
     * `not_submitted` only if that is proven.
     */
    send: async (options: SendOptions & Abortable): Promise<{ readonly signature: string }> => {
      const { transaction, skipPreflight, preflightCommitment, minContextSlot } = options
      const { base64, signature } = readSigned(transaction)
      const body = { transaction: base64, skipPreflight, preflightCommitment, ...chainView({ minContextSlot }) }
      try {
        const answer = sent(await ask("send", body, options, sendTimeoutMs), "object")
        if (answer.signature !== signature) throw strange("signature of this transaction")
        return { signature }
      } catch (thrown) {
        const error = asSvcError(thrown, "unexpected-answer", "The response can't be read")
        // Unless the error proves the contrary of this transaction, the provider may have accepted it.
        const isOurs = (error.signature || signature) === signature
        throw aboutSubmission(error, (isOurs && error.submissionState) || "unknown", signature)
      }
    },
    /** What the provider knows about a signature up to the slot `contextSlot`. `status` is null if it finds nothing. */
    signatureStatus: ({
      signature,
      searchTransactionHistory,
      signal,
    }: { readonly signature: string; readonly searchTransactionHistory?: boolean | undefined } & Abortable) =>
      read("signature-status", { signature, searchTransactionHistory }, { signal }, readStatus),
  }
}

/** What `createRelay` makes. */
export type Relay = ReturnType<typeof createRelay>
