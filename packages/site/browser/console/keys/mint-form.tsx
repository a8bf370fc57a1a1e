import type { MintedKey } from "@svc/client"
import { useState } from "preact/hooks"
import { type Asked, useApi } from "../api.ts"
import { Failure, mayBeDone } from "../failure.tsx"
import { useTry } from "../use-read.ts"

type Wish = {
  readonly kind: "secret" | "publishable"
  readonly name: string
  readonly origin: string
  readonly days: string
}

/** The request that mints what the form says. */
export const mintRequest = (keysPath: string, { kind, name, origin, days }: Wish): Asked => ({
  method: "POST",
  path: kind === "secret" ? keysPath : `${keysPath}/publishable`,
  body: {
    ...(name !== "" && { name }),
    ...(kind === "publishable" && { origin_allowlist: [origin] }),
    ...(days !== "" && { expires_in_days: Number(days) }),
  },
})

const noWish: Wish = { kind: "secret", name: "", origin: "", days: "" }

/** Mints a key. @param onLost after a failure that may have come too late: the key may exist */
export const MintForm = ({
  onMade,
  onLost,
}: {
  readonly onMade: (made: MintedKey) => void
  readonly onLost: () => void
}) => {
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
      <label>
        Kind
        <select
          value={wish.kind}
          onChange={({ currentTarget }) => set({ kind: currentTarget.value === "secret" ? "secret" : "publishable" })}
        >
          <option value="secret">secret, for programs</option>
          <option value="publishable">publishable, for one origin</option>
        </select>
      </label>
      <label>
        Name
        <input
          value={wish.name}
          maxLength={64}
          required
          onInput={({ currentTarget }) => set({ name: currentTarget.value })}
        />
      </label>
      {wish.kind === "publishable" && (
        <label>
          Origin
          <input
            type="url"
            value={wish.origin}
            placeholder="https://app.example.com"
            required
            onInput={({ currentTarget }) => set({ origin: currentTarget.value })}
          />
        </label>
      )}
      <label>
        Expires in days
        <input
          type="number"
          min="1"
          max="3650"
          value={wish.days}
          placeholder={wish.kind === "secret" ? "never" : "365"}
          onInput={({ currentTarget }) => set({ days: currentTarget.value })}
        />
      </label>
      <button aria-disabled={isBusy}>Mint</button>
      <Failure error={error} />
      {mayBeDone(error) && <p>The key may exist all the same: if the list shows it, revoke it and mint another one.</p>}
    </form>
  )
}
