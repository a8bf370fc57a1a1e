// The JSON-RPC errors of this node: the protocol's own and those a Solana validator adds.
const codes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  blockCleanedUp: -32001,
  preflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  slotSkipped: -32007,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const

export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(kind: keyof typeof codes, message: string, data?: unknown) {
    super(message)
    this.name = "RpcError"
    this.code = codes[kind]
    this.data = data
  }
}

export const invalidParams = (message: string) => new RpcError("invalidParams", message)
