import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { Failure, lookFirst, mayBeDone } from "./failure.tsx"
import { useTry } from "./use-read.ts"

type Props = {
  readonly title: string
  readonly verb: string
  readonly isEnd: boolean
  /** What stops, and how to go back. */
  readonly children: ComponentChildren
  /** What to do if the response was lost. */
  readonly ifLost?: string | undefined
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
}

/** Asks before something ends or is published. The dialog stays until it succeeds or the reader closes it, and says why it failed. */
export const Confirm = ({ title, verb, isEnd, children, ifLost = lookFirst, onConfirm, onClose }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const { error, isBusy, attempt } = useTry()
  const open = (): void => dialog.current?.showModal()
  useEffect(open, [])
  return (
    // What was sent can't be called back: Escape doesn't hide how it ends.
    <dialog ref={dialog} aria-labelledby="frame.confirm-title" onClose={isBusy ? open : onClose}>
      <h2 id="frame.confirm-title">{title}</h2>
      {children}
      <Failure error={error} />
      {mayBeDone(error) && <p>{ifLost}</p>}
      <div class="controls">
        <button type="button" aria-disabled={isBusy} onClick={() => isBusy || dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class={isEnd ? "danger" : "primary"}
          aria-disabled={isBusy}
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
