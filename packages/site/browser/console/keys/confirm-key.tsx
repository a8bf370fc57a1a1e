// What can be done to a key, and what that ends.
import type { Keys, RotatedKey } from "@svc/client"
import { when, brief } from "../text.ts"
import { useState } from "preact/hooks"
import { Choice } from "../../fields.tsx"
import { useApi } from "../api.ts"
import { Confirm } from "../confirm.tsx"

export type ApiKey = Keys[number]
export type Action = "rotate" | "disable" | "enable" | "revoke"

export const verbs = { rotate: "Rotate", disable: "Disable", enable: "Enable", revoke: "Revoke" } as const

const actionsOf: Readonly<Record<string, readonly Action[]>> = {
  active: ["rotate", "disable", "revoke"],
  disabled: ["enable", "revoke"],
  expired: ["revoke"],
} satisfies Record<ApiKey["status"], readonly Action[]>

export const successorOf = ({ replaced_by: successor }: ApiKey, keys: readonly ApiKey[]): ApiKey | undefined =>
  keys.find(({ id }) => id === successor)

/** Whether the platform rotates it: a replaced key only while nobody has used its successor. */
const canRotate = (key: ApiKey, keys: readonly ApiKey[]): boolean => {
  if (key.replaced_by === undefined) return true
  const successor = successorOf(key, keys)
  return successor?.status === "active" && successor.last_used_at === null && successor.replaced_by === undefined
}

/** What can be done to a key. With a replaced key the console can only rotate that one again. */
export const actionsFor = (key: ApiKey, keys: readonly ApiKey[]): readonly Action[] => {
  const isReplaced = keys.some(({ current, replaced_by: successor }) => current && successor !== undefined)
  const all = actionsOf[key.status] ?? []
  return all.filter(
    (action) => (action === "rotate" ? canRotate(key, keys) : !isReplaced) && (key.current || !isReplaced),
  )
}

const isUsable = ({ key_class: kind, status, replaced_by: successor }: ApiKey): boolean =>
  kind === "secret" && status === "active" && successor === undefined

/** What to do after a rotation without a response: the platform shows a key once, and makes another one for a successor that nobody used. */
const ifRotationLost = (overlapSeconds: number): string =>
  overlapSeconds > 0
    ? "The key may have a successor now that nobody has seen. Rotate the key again: an unused successor is revoked and replaced."
    : "The key may have expired, and nobody has seen its successor. If rotating again fails, sign in with another key of the account, revoke the successor and mint a new key."

/** What the owner should know before a key is disabled, revoked or rotated. */
const consequences = (action: Action, key: ApiKey, keys: readonly ApiKey[]): readonly string[] => {
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
  const unused = action === "rotate" && canRotate(key, keys) ? successorOf(key, keys) : undefined
  const isLast = isUsable(key) && keys.filter(isUsable).length === 1
  return [
    ends,
    ...(unused === undefined
      ? []
      : [`Its successor ${unused.key_hint}, which nobody has used, is revoked. A new key takes its place.`]),
    ...(action === "rotate" ? [] : ["Session tokens that it minted work until they expire."]),
    used,
    ...(key.current ? [`This console uses this key${action === "rotate" ? "" : ": it stops too"}.`] : []),
    ...(isLast && action !== "rotate"
      ? ["No other secret key stays: after this nobody can sign in to the account, unless the operator helps."]
      : []),
  ]
}

const overlaps = [
  [0, "none: the key leaked"],
  [60, "1 minute"],
  [3600, "1 hour"],
  [86_400, "1 day"],
  [604_800, "7 days"],
] as const
const usualOverlap = 3600

type Props = {
  readonly action: Action
  readonly apiKey: ApiKey
  readonly keys: readonly ApiKey[]
  /** The successor of a key that was rotated. */
  readonly onMade: (made: RotatedKey) => void
  /** The console's own key has ended. */
  readonly onEnded: (note: string) => void
  /** Whether it succeeded or not: a lost response leaves the list out of date too. */
  readonly onSettled: () => void
  readonly onClose: () => void
}

export const ConfirmKey = ({ action, apiKey, keys, onMade, onEnded, onSettled, onClose }: Props) => {
  const { ask, keysPath } = useApi()
  const [overlap, setOverlap] = useState<number>(usualOverlap)
  const path = `${keysPath}/${apiKey.id}`
  const confirm = async (): Promise<void> => {
    try {
      if (action === "rotate") {
        const body = { overlap_seconds: overlap }
        onMade((await ask<RotatedKey>({ method: "POST", path: `${path}/rotate`, body })).body)
        return
      }
      await ask(action === "revoke" ? { method: "DELETE", path } : { method: "POST", path: `${path}/${action}` })
      const past = action === "revoke" ? "revoked" : "disabled"
      if (apiKey.current) onEnded(`Signed out: you ${past} the key of this console.`)
    } finally {
      onSettled()
    }
  }
  return (
    <Confirm
      title={`${verbs[action]} ${apiKey.key_hint} (${brief(apiKey.name, 64)})?`}
      verb={verbs[action]}
      isEnd
      ifLost={action === "rotate" ? ifRotationLost(overlap) : undefined}
      onConfirm={confirm}
      onClose={onClose}
    >
      <ul>
        {consequences(action, apiKey, keys).map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {action === "rotate" && <Choice label="Overlap" chosen={overlap} from={overlaps} onChoose={setOverlap} />}
    </Confirm>
  )
}
