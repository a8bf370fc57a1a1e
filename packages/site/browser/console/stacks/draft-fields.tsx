import type { Spec } from "@svc/client"
import type { Wish } from "./start-run.ts"

const visibilities: Readonly<Record<Spec["visibility"], string>> = {
  private: "private: you and agents that you name",
  global: "global: everybody with a key",
  public: "public: everybody",
}

type Props = {
  readonly wish: Wish
  readonly isBusy: boolean
  readonly onChange: (wish: Wish) => void
  readonly onCheck: () => void
  readonly onDiscard: () => void
}

/** Under which name a file is published, and how a new spec begins. */
export const DraftFields = ({ wish, isBusy, onChange, onCheck, onDiscard }: Props) => (
  <form
    class="fields"
    autocomplete="off"
    onSubmit={(event) => {
      event.preventDefault()
      onCheck()
    }}
  >
    <label>
      Name in the registry
      <input
        value={wish.name}
        pattern="[a-z0-9][a-z0-9\-]{0,62}"
        title="Lower-case letters, digits and hyphens"
        required
        onInput={({ currentTarget }) => onChange({ ...wish, name: currentTarget.value })}
      />
    </label>
    <label>
      Stream URL (if new)
      <input
        value={wish.websocketUrl}
        placeholder="wss://streams.example/name"
        onInput={({ currentTarget }) => onChange({ ...wish, websocketUrl: currentTarget.value })}
      />
    </label>
    <label>
      Visible to (if new)
      <select
        value={wish.visibility}
        onChange={({ currentTarget }) => onChange({ ...wish, visibility: currentTarget.value as Spec["visibility"] })}
      >
        {Object.entries(visibilities).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
    <button disabled={isBusy}>Check</button>
    <button type="button" onClick={onDiscard}>
      Discard
    </button>
  </form>
)
