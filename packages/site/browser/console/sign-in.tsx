import { useRef, useState } from "preact/hooks"
import { createApi } from "./api.ts"
import { Failure } from "./failure.tsx"
import { idleMinutes, keepKey } from "./session.ts"
import { useTry } from "./use-read.ts"

const shape = /^svc_[as]k_[0-9A-Za-z]{38}$/

/** What is wrong with a text that should be a secret key; empty for nothing. */
const faultOf = (key: string): string => {
  if (key.startsWith("svc_pk_")) return "This is a publishable key. The console needs a secret one."
  return shape.test(key) ? "" : "This isn't a whole secret key: svc_ak_ or svc_sk_, and 38 letters and digits."
}

type Props = { readonly apiUrl: string; readonly note: string; readonly onSignedIn: () => void }

/** Asks for a secret key, which the platform has to accept before it is kept. */
export const SignIn = ({ apiUrl, note, onSignedIn }: Props) => {
  const input = useRef<HTMLInputElement>(null)
  const [fault, setFault] = useState("")
  const { error, isBusy, attempt } = useTry()
  const submit = (): void => {
    if (isBusy) return
    const key = input.current?.value.trim() ?? ""
    // From here on the key is in no element.
    if (input.current !== null) input.current.value = ""
    const found = faultOf(key)
    setFault(found)
    if (found !== "") return
    void attempt(async () => {
      const { ask, keysPath } = createApi(apiUrl, () => key)
      await ask({ path: `${keysPath}?limit=1` })
      // Whoever left the page meanwhile isn't signed in.
      if (input.current === null) return
      keepKey(key)
      onSignedIn()
    })
  }
  return (
    <section aria-labelledby="frame.console-title">
      <h2 id="frame.console-title">Sign in with a key</h2>
      {note !== "" && <p class="note">{note}</p>}
      {/* No form: browsers keep what was typed into one. */}
      <div class="sign-in" role="group" aria-label="Key">
        <input
          ref={input}
          class="secret-input"
          type="text"
          aria-label="Secret key"
          placeholder="svc_ak_… or svc_sk_…"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          data-1p-ignore
          data-lpignore="true"
          onKeyDown={({ key }) => {
            if (key === "Enter") submit()
          }}
        />
        <button type="button" class="primary" disabled={isBusy} onClick={submit}>
          Sign in
        </button>
      </div>
      <p class="muted" role="status">
        {isBusy ? "Asking the platform…" : fault}
      </p>
      <Failure error={error} />
      <p class="muted">
        The key stays in this tab and goes to {new URL(apiUrl).origin} alone. Signing out or {idleMinutes} minutes
        without use forget it.
      </p>
    </section>
  )
}
