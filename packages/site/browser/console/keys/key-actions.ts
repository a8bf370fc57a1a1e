// What can be done to a key, and what that ends.
import type { Keys } from "@svc/client"
import { when } from "../text.ts"

export type ApiKey = Keys[number]
export type Action = "rotate" | "disable" | "enable" | "revoke"

/** What its button says. */
export const verbs = { rotate: "Rotate", disable: "Disable", enable: "Enable", revoke: "Revoke" } as const

export const actionsOf = ({ status }: ApiKey): readonly Action[] =>
  status === "active" ? ["rotate", "disable", "revoke"] : status === "disabled" ? ["enable", "revoke"] : ["revoke"]

const isUsable = ({ key_class: kind, status, replaced_by: successor }: ApiKey): boolean =>
  kind === "secret" && status === "active" && successor === undefined

/** What to do after a rotation without a response: the platform shows a key once, and makes another one for a successor that nobody used. */
export const ifRotationLost = (overlapSeconds: number): string =>
  overlapSeconds > 0
    ? "The key may have a successor now that nobody has seen. Rotate the key again: an unused successor is revoked and replaced."
    : "The key may have expired, and nobody has seen its successor. If rotating again fails, sign in with another key of the account, revoke the successor and mint a new key."

/** What the owner should know before a key is disabled, revoked or rotated. */
export const consequences = (action: Action, key: ApiKey, keys: readonly ApiKey[]): readonly string[] => {
  const users =
    key.origin_allowlist === null
      ? `Programs that use ${key.key_hint}`
      : `Pages of ${key.origin_allowlist.join(", ")} that use ${key.key_hint}`
  const used = key.last_used_at === null ? "It was never used." : `It was last used ${when(key.last_used_at)}.`
  const ends = {
    rotate: `${users} have until the end of the overlap to change to the new key. Then they get 401 expired-api-key.`,
    disable: `${users} get 401 disabled-api-key from their next request on, until you enable it again.`,
    revoke: `${users} get 401 invalid-api-key from their next request on. This can't be undone.`,
    enable: "",
  }[action]
  const isLast = isUsable(key) && keys.filter(isUsable).length === 1
  return [
    ends,
    ...(action === "rotate" ? [] : ["Session tokens that it minted work until they expire."]),
    used,
    ...(key.current ? [`This console uses this key${action === "rotate" ? "" : ": it stops too"}.`] : []),
    ...(isLast && action !== "rotate"
      ? ["No other secret key stays: after this nobody can sign in to the account, unless the operator helps."]
      : []),
  ]
}
