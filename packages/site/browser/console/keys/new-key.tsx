import type { MintedKey } from "@svc/client"
import { useEffect, useRef } from "preact/hooks"
import { CodeBox } from "../../live/copy-button.tsx"
import { brief, when } from "../text.ts"

type Props = {
  readonly made: MintedKey
  /** Goes on with this key in this tab; undefined where that is no use. */
  readonly onUse: (() => void) | undefined
  readonly onDone: () => void
}

export const NewKey = ({ made, onUse, onDone }: Props) => {
  const place = useRef<HTMLElement>(null)
  useEffect(() => place.current?.focus(), [made])
  return (
    <section class="note good new-key" aria-label={`New key ${made.id}`} tabIndex={-1} ref={place}>
      <p>
        The key <b>{brief(made.name, 64)}</b>, shown only now. Copy it to where it is used; nobody can show it again.
        {made.expires_at !== null && ` It expires ${when(made.expires_at)}.`}
      </p>
      <CodeBox text={made.key} of="the new key" />
      <div class="controls">
        {onUse !== undefined && (
          <button
            type="button"
            onClick={() => {
              onUse()
              place.current?.focus()
            }}
          >
            Use it in this console
          </button>
        )}
        <button type="button" onClick={onDone}>
          I've stored it
        </button>
      </div>
    </section>
  )
}
