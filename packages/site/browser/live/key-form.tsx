import { useState } from "preact/hooks"

const publishable = "svc_pk_"

/** Asks for a publishable key, which is kept in memory alone. */
export const KeyForm = ({ onKey, fault: first }: { readonly onKey: (key: string) => void; readonly fault: string }) => {
  const [fault, setFault] = useState(first)
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const input = (event.currentTarget as HTMLFormElement).querySelector("input")
    const key = input?.value.trim() ?? ""
    if (input !== null) input.value = ""
    if (key.startsWith(publishable)) onKey(key)
    else setFault("Paste a publishable key, never a secret one.")
  }
  return (
    <>
      <p>With a publishable key this page shows live records. The key isn't stored.</p>
      <form class="search wide" onSubmit={submit}>
        <input
          class="secret-input"
          type="text"
          aria-label="Publishable key"
          placeholder={`${publishable}…`}
          autocomplete="off"
          spellcheck={false}
          required
        />
        <button>Watch</button>
      </form>
      <p class="muted" role="status">
        {fault || `The key's origin must be ${location.origin}.`}
      </p>
    </>
  )
}
