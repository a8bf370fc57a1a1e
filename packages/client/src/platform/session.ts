import { type Clock, systemClock } from "../http/clock.ts"
import type { Platform } from "./platform.ts"

/** A source of tokens for the relay: `createSession`, or your own. */
export type TokenSource = {
  /** A token that is valid now. */
  readonly token: () => Promise<string>
  /** A token other than the one that the relay has just rejected. Without it the call fails with that rejection. */
  readonly renew?: (refused: string) => Promise<string>
}

/** A session that renews itself. */
export type Session = Required<TokenSource>

export type SessionOptions = {
  /** A platform with a key: a secret one, or in a web page a publishable one for its origin. */
  readonly platform: Pick<Platform, "mintSession">
  /** The stack's `websocket_url` from the registry. */
  readonly websocketUrl: string
  /** `read`, `transaction:inspect`, `transaction:send`, separated by spaces or as a list. None includes another. */
  readonly scope: string | readonly string[]
  /** For tests. */
  readonly clock?: Clock | undefined
}

/** A token is renewed after this part of its lifetime. */
const renewAt = 0.8
const usualLifeMs = 300_000
/** How long a call waits for a new token while the old one is still valid. */
const patienceMs = 1000
/** A mint that takes longer never ends: Cloudflare Workers end a request's connections and timers with it. */
const lostMs = 15_000

/** A token's lifetime in ms, from its claims. A duration doesn't depend on the clocks of two machines. */
export const lifeOf = (token: string): number => {
  try {
    const payload = atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"))
    const { exp, iat }: { readonly exp?: unknown; readonly iat?: unknown } = JSON.parse(payload)
    const life = Number(exp) - Number(iat)
    return life > 0 ? life * 1000 : usualLifeMs
  } catch {
    return usualLifeMs
  }
}

type Held = { readonly token: string; readonly renewAt: number; readonly endsAt: number }

/**
 * A session for one stack. All calls share one token, which is renewed at 80 % of its lifetime and when the relay rejects
 * it.
 *
 * @returns `token()`, a promise of the token. It rejects with the platform's SvcError: `scope-not-allowed` where the stack
 * has no relay, `agent-account-forbidden` (for a person's key `stack-not-found`) where the URL isn't a public stack's, `rate-limit-exceeded` over 60 a minute.
 * @example
 * const session = createSession({
 *   platform,
 *   websocketUrl: "wss://stack.example/transfers",
 *   scope: "transaction:inspect transaction:send",
 * })
 */
export const createSession = ({ platform, websocketUrl, scope, clock = systemClock }: SessionOptions): Session => {
  let held: Held | undefined
  let minting: Promise<string> | undefined

  const mint = async (): Promise<string> => {
    const begun = clock.now()
    const { token } = await platform.mintSession({
      websocket_url: websocketUrl,
      scope: typeof scope === "string" ? scope : scope.join(" "),
    })
    const life = lifeOf(token)
    held = { token, renewAt: begun + life * renewAt, endsAt: begun + life }
    return token
  }

  /** @param old a token that is still valid: then a slow or unavailable platform delays nobody */
  const minted = async (old?: string): Promise<string> => {
    const shared = (minting ??= mint().finally(() => (minting = undefined)))
    const waited = new AbortController()
    const late = clock.sleep(old ? patienceMs : lostMs, waited.signal).then(() => old ?? waited)
    const found = await Promise.race([old ? shared.catch(() => old) : shared, late]).finally(() => waited.abort())
    if (found !== waited) return found as string
    if (minting === shared) minting = undefined
    return token()
  }

  const token = async (): Promise<string> => {
    if (held === undefined || clock.now() >= held.endsAt) return minted()
    return clock.now() < held.renewAt ? held.token : minted(held.token)
  }

  return {
    token,
    renew: async (refused) => {
      if (held?.token === refused) held = undefined
      return token()
    },
  }
}
