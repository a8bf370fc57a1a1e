import { type Clock, systemClock } from "./clock.ts"
import { ownError } from "./error.ts"
import { isObject } from "./json.ts"
import type { Platform } from "./platform.ts"

/** Where a relay's calls get their token: `createSession`, or the caller's own. */
export type TokenSource = {
  /** A token that is good now. */
  readonly token: () => Promise<string>
  /** Another token than the one that the relay has just refused. Without it a refusal is the call's error. */
  readonly renew?: (refused: string) => Promise<string>
}

/** A session that renews itself. */
export type Session = Required<TokenSource>

export type SessionOptions = {
  /** Mints the tokens: a platform with a key (secret, or publishable in a page of its origin). */
  readonly platform: Pick<Platform, "mintSession">
  /** The stack's `websocket_url`, as the registry writes it. */
  readonly websocketUrl: string
  /** `read`, `transaction:inspect`, `transaction:send`: words with spaces between, or a list. None includes another. */
  readonly scope: string | readonly string[]
  /** For tests. */
  readonly clock?: Clock
}

/** When a token is renewed, as a part of its life. */
const renewAt = 0.8
const usualLifeMs = 300_000
/** How long a call with a token that is still good waits for the next one. */
const patienceMs = 1000

/** A token's life from its own claims, in ms: the clocks of two machines differ, a length of time does not. */
export const lifeOf = (token: string): number => {
  try {
    const payload = atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"))
    const claims: unknown = JSON.parse(payload)
    if (!isObject(claims)) return usualLifeMs
    const life = Number(claims["exp"]) - Number(claims["iat"])
    return life > 0 ? life * 1000 : usualLifeMs
  } catch {
    return usualLifeMs
  }
}

type Held = { readonly token: string; readonly renewAt: number; readonly endsAt: number }

/**
 * A session for one stack: its token is minted once for all who ask, renewed at 80 % of its life, and minted anew when the
 * relay refuses it.
 *
 * @returns `token()`, a promise of the token. It rejects with the platform's SvcError: `scope-not-allowed` where the stack
 * has no relay, `agent-account-forbidden` (for a person's key `stack-not-found`) where the URL isn't a public stack's, `rate-limit-exceeded` over 60 a minute.
 * @example
 * const session = createSession({
 *   platform,
 *   websocketUrl: "wss://stack.example/transfers",
 *   scope: ["transaction:inspect", "transaction:send"],
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
    if (token === "") throw ownError("unexpected-answer", "The platform answered without a token")
    const life = lifeOf(token)
    held = { token, renewAt: begun + life * renewAt, endsAt: begun + life }
    return token
  }

  const minted = (): Promise<string> => {
    minting ??= mint().finally(() => (minting = undefined))
    return minting
  }

  return {
    token: async () => {
      const old = held
      if (old === undefined || clock.now() >= old.endsAt) return minted()
      if (clock.now() < old.renewAt) return old.token
      // While the old token is good nobody has to wait for a slow platform, or know that it is away.
      const waited = new AbortController()
      const patience = clock.sleep(patienceMs, waited.signal).then(() => old.token)
      return Promise.race([minted().catch(() => old.token), patience]).finally(() => waited.abort())
    },
    renew: async (refused) => {
      if (held?.token === refused) held = undefined
      return held === undefined ? minted() : held.token
    },
  }
}
