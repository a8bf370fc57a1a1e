import type { RotatedKey } from "@svc/client"
import { useState } from "preact/hooks"
import { useApi } from "../api.ts"
import { Confirm } from "../confirm.tsx"
import { brief } from "../text.ts"
import { type Action, type ApiKey, consequences, ifRotationLost, verbs } from "./key-actions.ts"

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

/** Says what an action ends, and does it. */
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
      {...(action === "rotate" && { ifLost: ifRotationLost(overlap) })}
      onConfirm={confirm}
      onClose={onClose}
    >
      <ul>
        {consequences(action, apiKey, keys).map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {action === "rotate" && (
        <label>
          Overlap{" "}
          <select value={overlap} onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}>
            {overlaps.map(([seconds, text]) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        </label>
      )}
    </Confirm>
  )
}
