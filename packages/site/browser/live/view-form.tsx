import { useState } from "preact/hooks"
import type { View } from "./stack-source.ts"

type Watched = { readonly view: string; readonly recordKey: string }
type Props = {
  readonly views: readonly View[]
  readonly watched: Watched
  readonly onWatch: (watched: Watched) => void
}

/** Chooses a view, and the record of a view that shows one. */
export const ViewForm = ({ views, watched, onWatch }: Props) => {
  const [key, setKey] = useState(watched.recordKey)
  const needsKey = views.find(({ id }) => id === watched.view)?.needsKey === true
  return (
    <form
      class="view-form"
      onSubmit={(event) => {
        event.preventDefault()
        onWatch({ ...watched, recordKey: key.trim() })
      }}
    >
      <label>
        View{" "}
        <select
          value={watched.view}
          onChange={({ currentTarget }) => {
            setKey("")
            onWatch({ view: currentTarget.value, recordKey: "" })
          }}
        >
          {views.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      {needsKey && (
        <>
          <label>
            Key{" "}
            <input
              value={key}
              onInput={({ currentTarget }) => setKey(currentTarget.value)}
              spellcheck={false}
              required
            />
          </label>
          <button>Watch</button>
          {watched.recordKey === "" && <p role="status">This view shows one record: enter its key.</p>}
        </>
      )}
    </form>
  )
}
