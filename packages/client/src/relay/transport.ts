import { ownError } from "../http/error.ts"
import type { Relay } from "./relay.ts"

/** A transport as kit's `createSolanaRpcFromTransport` takes it. */
export type RelayTransport = <Response>(request: {
  readonly payload: unknown
  readonly signal?: AbortSignal
}) => Promise<Response>

/**
 * A transport for kit: the methods that the relay has, exact to the last digit, and an error that names the method for
 * any other.
 *
 * A JSON-RPC error of the provider becomes kit's SolanaError; everything else is thrown as SvcError, code `not-carried` for
 * what the relay cannot do.
 *
 * @example
 * import { createSolanaRpcFromTransport } from "@solana/kit"
 * const rpc = createSolanaRpcFromTransport(createRelayTransport(relay))
 * const { value } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send()
 */
export const createRelayTransport =
  (relay: Relay): RelayTransport =>
  async <Response>(request: { readonly payload: unknown; readonly signal?: AbortSignal }) => {
    const { carry } = await import("./transport-methods.ts")
    const answer = await carry(relay, request, (message) => ownError("not-carried", message))
    // kit names the type that a method's answer has.
    return answer as Response
  }
