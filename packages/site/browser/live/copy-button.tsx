import { useState } from "preact/hooks"
import { copyText } from "../dom.ts"

const shownMs = 1500

/** Copies `text`. @param of what it copies, for those who can't see where the button stands */
export const CopyButton = ({ text, of }: { readonly text: string; readonly of: string }) => {
  const [isDone, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    if (!(await copyText(text))) return
    setDone(true)
    setTimeout(() => setDone(false), shownMs)
  }
  return (
    <button
      type="button"
      class="copy"
      aria-label={isDone ? "Copied" : `Copy ${of}`}
      title={`Copy ${of}`}
      onClick={copy}
    >
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d={isDone ? "M3 8l4 4 7-8" : "M5 5V2h9v9h-3M2 5h9v9H2z"} />
      </svg>
    </button>
  )
}

/** Text in a box that scrolls, with a button that copies it. @param of what the button copies */
export const CodeBox = ({ text, of }: { readonly text: string; readonly of: string }) => (
  <div class="code">
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} of={of} />
  </div>
)
