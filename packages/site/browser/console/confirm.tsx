import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { Failure } from "./failure.tsx"
import { useTry } from "./use-read.ts"

type Props = {
  readonly title: string
  /** What the button does, in a verb. */
  readonly verb: string
  /** What stops, and how to go back. */
  readonly children: ComponentChildren
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
}

/** Asks before something ends or is published. The dialog stays while it fails, and says why. */
export const Confirm = ({ title, verb, children, onConfirm, onClose }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const { error, isBusy, attempt } = useTry()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby="frame.confirm-title" onClose={onClose}>
      <h2 id="frame.confirm-title">{title}</h2>
      {children}
      <Failure error={error} />
      <div class="controls">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          disabled={isBusy}
          onClick={() =>
            attempt(async () => {
              await onConfirm()
              // Closed, not taken away: the focus goes back to where it was.
              dialog.current?.close()
            })
          }
        >
          {verb}
        </button>
      </div>
    </dialog>
  )
}
