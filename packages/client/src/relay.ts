import { type Clock, systemClock } from "./clock.ts"
import { aboutSubmission, asSvcError, ownError, SvcError } from "./error.ts"
import { type Answer, baseUrl, errorOf, type Fetch, request } from "./http.ts"
import { isObject, objectOf, strange, text, u64 } from "./json.ts"
import type { TokenSource } from "./session.ts"
import { readSimulation, readStatus, type Simulation, type Status } from "./relay-answers.ts"
import { asBase64, readSigned } from "./wire.ts"

/** How settled the state of the chain must be. */
export type Commitment = "processed" | "confirmed" | "finalized"

export type RelayOptions = {
  /** The relay's origin, `https://relay.example`. */
  readonly relayUrl: string
  /** Where the token comes from: `createSession`. */
  readonly session: TokenSource
  /** Instead of the global `fetch`. */
  readonly fetch?: Fetch
  /** For tests. */
  readonly clock?: Clock
}

/** The caller's way to give up a call. */
export type Abortable = { readonly signal?: AbortSignal | undefined }

/** `commitment` defaults to confirmed; `minContextSlot`: the provider must have seen this slot. */
export type ChainView = { readonly commitment?: Commitment | undefined; readonly minContextSlot?: bigint | undefined }

/** A transaction: base64, or its bytes. */
export type Transaction = string | Uint8Array

export type SendOptions = {
  /** Fully signed. */
  readonly transaction: Transaction
  /** Leaves out the provider's trial run; default false. */
  readonly skipPreflight?: boolean | undefined
  /** The state that the trial run sees; default confirmed. */
  readonly preflightCommitment?: Commitment | undefined
  readonly minContextSlot?: bigint | undefined
}

export type SimulateOptions = ChainView & {
  /** Its signatures may be all zeros. */
  readonly transaction: Transaction
  /** Checks the signatures; default false. */
  readonly sigVerify?: boolean
  /** Simulates with a fresh blockhash, excludes `sigVerify`; default false. */
  readonly replaceRecentBlockhash?: boolean
  readonly innerInstructions?: boolean
  /** Base58 addresses, at most 16, whose state afterwards is wanted. */
  readonly accounts?: readonly string[]
}

const readTimeoutMs = 12_000
const sendTimeoutMs = 20_000

// JSON leaves out what is undefined.
const chainView = ({ commitment, minContextSlot }: ChainView) => ({
  commitment,
  minContextSlot: minContextSlot?.toString(),
})

// Nothing has left the relay, and another token may pass.
const isTokenRefusal = ({ status, header, body }: Answer): boolean =>
  status === 401 &&
  header("x-svc-upstream-attempted") === "false" &&
  isObject(body) &&
  String(body["code"]).startsWith("token-")

/**
 * The relay's routes. Every u64 is a `bigint`. Reads take 12 seconds at most, a send 20. Everything is thrown as SvcError;
 * on `send` it always has `submissionState` and `signature`.
 *
 * @throws TypeError when `relayUrl` is no http or https URL.
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
      // Without a token nothing has left.
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
    const post = (bearer: string) => request(fetch ?? globalThis.fetch, clock, { ...call, bearer })
    const token = await tokenOf(session.token)
    let answer = await post(token)
    const { renew } = session
    if (renew !== undefined && isTokenRefusal(answer)) answer = await post(await tokenOf(() => renew(token)))
    if (answer.status !== 200) throw errorOf(answer)
    return answer.body
  }

  const read = async <Value>(
    route: string,
    body: object,
    options: Abortable,
    reader: (answer: ReturnType<typeof objectOf>) => Value,
  ): Promise<Value> => {
    try {
      return reader(objectOf(await ask(route, body, options)))
    } catch (error) {
      throw asSvcError(error, "unexpected-answer", `The answer to ${route} cannot be read`)
    }
  }

  return {
    /** The relay's URL, without a slash at its end. */
    url,
    /** A blockhash to sign with, and the block height up to which it is good (some 150 blocks, about a minute). */
    latestBlockhash: (options: ChainView & Abortable = {}) =>
      read("latest-blockhash", chainView(options), options, (answer) => ({
        blockhash: text(answer, "blockhash"),
        contextSlot: u64(answer, "contextSlot"),
        lastValidBlockHeight: u64(answer, "lastValidBlockHeight"),
      })),
    /** The block height: blocks, not slots. */
    blockHeight: (options: ChainView & Abortable = {}) =>
      read("block-height", chainView(options), options, (answer) => ({ blockHeight: u64(answer, "blockHeight") })),
    /** What a compiled message (not the whole transaction) costs; null when its blockhash has expired or is not known. */
    fee: ({ message, ...options }: { readonly message: Transaction } & ChainView & Abortable) =>
      read("fee", { message: asBase64(message), ...chainView(options) }, options, (answer) => ({
        feeLamports: answer["feeLamports"] === null ? null : u64(answer, "feeLamports"),
        contextSlot: u64(answer, "contextSlot"),
      })),
    /** Tries a transaction out. One that would fail is an answer with `err`, not an error. */
    simulate: (options: SimulateOptions & Abortable): Promise<Simulation> => {
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
     * Hands a transaction over once, and says nothing about what becomes of it: rather use `submit`. An error's
     * `submissionState` is `not_submitted` only where that is proven.
     */
    send: async (options: SendOptions & Abortable): Promise<{ readonly signature: string }> => {
      const { transaction, skipPreflight, preflightCommitment, minContextSlot } = options
      const { base64, signature } = readSigned(transaction)
      const body = { transaction: base64, skipPreflight, preflightCommitment, ...chainView({ minContextSlot }) }
      try {
        const answer = objectOf(await ask("send", body, options, sendTimeoutMs))
        if (text(answer, "signature") !== signature) throw strange("signature of this transaction")
        return { signature }
      } catch (thrown) {
        const error = asSvcError(thrown, "unexpected-answer", "The answer to send cannot be read")
        // What does not prove the contrary may have been taken.
        throw aboutSubmission(error, error.submissionState ?? "unknown", signature)
      }
    },
    /** What the provider knows of a signature, up to the slot `contextSlot`; `status` null: it finds nothing. */
    signatureStatus: ({
      signature,
      searchTransactionHistory,
      signal,
    }: { readonly signature: string; readonly searchTransactionHistory?: boolean } & Abortable): Promise<{
      readonly status: Status | null
      readonly contextSlot: bigint
    }> => read("signature-status", { signature, searchTransactionHistory }, { signal }, readStatus),
  }
}

/** What `createRelay` makes. */
export type Relay = ReturnType<typeof createRelay>

/** Thrown for what the relay does not carry. */
export const notCarried = (message: string): SvcError => ownError("not-carried", message)
