import type { SvcError } from "../http/error.ts"

/** What is known of a connection. */
export type ConnectionState =
  /** It has not been open yet. */
  | { readonly kind: "connecting" }
  /** The server has sent something lately, or responded when it was asked. */
  | { readonly kind: "live" }
  /** The connection is open, and the server doesn't respond. */
  | { readonly kind: "silent" }
  /** The connection was lost, or can't be opened: the library tries again. `error` is what was said about it, if anything. */
  | { readonly kind: "away"; readonly error: SvcError | undefined }
  /** The platform no longer accepts the key. It ends here: only another key helps. */
  | { readonly kind: "key-gone"; readonly error: SvcError }

/** What happens to a connection. */
export type ConnectionEvent =
  | { readonly is: "heard" }
  | { readonly is: "unanswered" }
  | { readonly is: "lost"; readonly error: SvcError | undefined }

/** Whether an error says that the key itself no longer works. */
export const isKeyGone = ({ code }: Pick<SvcError, "code">): boolean =>
  code === "invalid-api-key" || code === "expired-api-key" || code === "disabled-api-key"

/** The state after an event: the one table that everything that shows a connection goes by. */
export const nextState = (state: ConnectionState, event: ConnectionEvent): ConnectionState => {
  if (state.kind === "key-gone") return state
  if (event.is === "heard") return state.kind === "live" ? state : { kind: "live" }
  if (event.is === "unanswered") return state.kind === "live" ? { kind: "silent" } : state
  const { error } = event
  return error !== undefined && isKeyGone(error) ? { kind: "key-gone", error } : { kind: "away", error }
}

/** Keeps the state, and reports each new one. */
export const followConnection = (onState: ((state: ConnectionState) => void) | undefined) => {
  let state: ConnectionState = { kind: "connecting" }
  onState?.(state)
  return (event: ConnectionEvent): void => {
    const next = nextState(state, event)
    if (next === state) return
    state = next
    onState?.(state)
  }
}
