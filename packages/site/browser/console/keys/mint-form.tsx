import type { MintedKey } from "@svc/client"
import { useState } from "preact/hooks"
import { Choice, TextField } from "../../fields.tsx"
import { type Asked, useApi } from "../api.ts"
import { Failure, mayBeDone } from "../failure.tsx"
import { useTry } from "../use-read.ts"

type Wish = {
  readonly kind: "secret" | "publishable"
  readonly name: string
  readonly origin: string
  readonly days: string
}

export const mintRequest = (keysPath: string, { kind, name, origin, days }: Wish): Asked => ({
  method: "POST",
  path: kind === "secret" ? keysPath : `${keysPath}/publishable`,
  body: {
    ...(name !== "" && { name }),
    ...(kind === "publishable" && { origin_allowlist: [origin] }),
    ...(days !== "" && { expires_in_days: Number(days) }),
  },
})

const kinds = [
  ["secret", "secret, for programs"],
  ["publishable", "publishable, for one origin"],
] as const

const noWish: Wish = { kind: "secret", name: "", origin: "", days: "" }

type Props = {
  readonly onMade: (made: MintedKey) => void
  /** After a failure that may have come too late: the key may exist. */
  readonly onLost: () => void
}

export const MintForm = ({ onMade, onLost }: Props) => {
  const { ask, keysPath } = useApi()
  const [wish, setWish] = useState<Wish>(noWish)
  const { error, isBusy, attempt } = useTry()
  const set = (change: Partial<Wish>): void => setWish({ ...wish, ...change })
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    await attempt(async () => {
      onMade((await ask<MintedKey>(mintRequest(keysPath, wish))).body)
      setWish(noWish)
    })
    onLost()
  }
  return (
    <form class="fields" autocomplete="off" aria-label="Mint a key" onSubmit={submit}>
      <Choice label="Kind" chosen={wish.kind} from={kinds} onChoose={(kind) => set({ kind })} />
      <TextField label="Name" value={wish.name} maxLength={64} required onText={(name) => set({ name })} />
      {wish.kind === "publishable" && (
        <TextField
          label="Origin"
          type="url"
          value={wish.origin}
          placeholder="https://app.example.com"
          required
          onText={(origin) => set({ origin })}
        />
      )}
      <TextField
        label="Expires in days"
        type="number"
        min="1"
        max="3650"
        value={wish.days}
        placeholder={wish.kind === "secret" ? "never" : "365"}
        onText={(days) => set({ days })}
      />
      <button aria-disabled={isBusy}>Mint</button>
      <Failure error={error} />
      {mayBeDone(error) && <p>The key may exist all the same: if the list shows it, revoke it and mint another one.</p>}
    </form>
  )
}
