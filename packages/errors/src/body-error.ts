/** Why a request, most often its body, can't be used. */
export type BodyFault =
  | { readonly kind: "unsupported-media-type"; readonly reason: string }
  | { readonly kind: "too-large"; readonly limit: number }
  | { readonly kind: "timeout" }
  /** The client went away in the middle of its body: no answer reaches it. */
  | { readonly kind: "aborted" }
  | { readonly kind: "invalid-json"; readonly reason: string }
  /** The value at `path` doesn't fit its schema. */
  | { readonly kind: "invalid"; readonly path: string; readonly reason: string }

/** Thrown by everything that reads or validates requests; each service maps the fault to a row of its error table. */
export class BodyError extends Error {
  override readonly name = "BodyError"
  readonly fault: BodyFault

  constructor(fault: BodyFault) {
    super(fault.kind)
    this.fault = fault
  }
}
