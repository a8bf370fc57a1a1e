import { useEffect, useState } from "preact/hooks"
import { Choice, TextField } from "../fields.tsx"
import { isOfOne, type View } from "./stack-source.ts"
import type { Address } from "./use-address.ts"

type Props = {
  readonly views: readonly View[]
  readonly view: View
  /** Empty: none was chosen. */
  readonly recordKey: string
  readonly onChoose: Address["choose"]
}

/** Chooses a view, and the record of a view that shows one. */
export const ViewForm = ({ views, view, recordKey, onChoose }: Props) => {
  const [key, setKey] = useState(recordKey)
  useEffect(() => setKey(recordKey), [recordKey])
  const list = views.find(({ id, needsKey }) => !needsKey && isOfOne(id, view.id))
  const watch = (id: string): void => onChoose({ view: id, key: "", chart: "", columns: "" }, true)
  return (
    <form
      class="view-form"
      onSubmit={(event) => {
        event.preventDefault()
        onChoose({ key: key.trim() }, true)
      }}
    >
      <Choice label="View" chosen={view.id} from={views.map(({ id }) => [id, id] as const)} onChoose={watch} />
      {view.needsKey && (
        <>
          <TextField label="Key" value={key} spellcheck={false} required onText={setKey} />
          <button>Watch</button>
          {recordKey === "" && (
            <p role="status">
              This view shows one record: enter its key
              {list !== undefined && (
                <>
                  , or choose one in <a href={`?${new URLSearchParams({ view: list.id })}`}>{list.id}</a>
                </>
              )}
              .
            </p>
          )}
        </>
      )}
    </form>
  )
}
