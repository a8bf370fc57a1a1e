import { createPlatform, type MintedKey } from "@svc/client"
import { useEffect, useRef, useState } from "preact/hooks"
import { createApi } from "./api.ts"
import { Failure, mayBeDone } from "./failure.tsx"
import { idleMinutes, keepKey } from "./session.ts"
import { useTry } from "./use-read.ts"

const shape = /^svc_[as]k_[0-9A-Za-z]{38}$/

/** What is wrong with a text that should be a secret key; empty for nothing. */
const faultOf = (key: string): string => {
  if (key.startsWith("svc_pk_")) return "This is a publishable key. The console needs a secret one."
  return shape.test(key) ? "" : "This isn't a whole secret key: svc_ak_ or svc_sk_, and 38 letters and digits."
}

type CreateProps = { readonly apiUrl: string; readonly onCreated: (key: MintedKey) => void }

const CreateAgent = ({ apiUrl, onCreated }: CreateProps) => {
  const name = useRef<HTMLInputElement>(null)
  const { error, isBusy, attempt } = useTry()
  const create = (event: Event): void => {
    event.preventDefault()
    void attempt(async () => {
      const display = name.current?.value.trim() ?? ""
      const agent = await createPlatform({ apiUrl }).signUp(display === "" ? {} : { display_name: display })
      if (typeof agent.api_key !== "string") throw new TypeError("there is no key in it")
      keepKey(agent.api_key)
      onCreated({
        id: agent.key_id,
        key: agent.api_key,
        name: "signup",
        key_class: "secret",
        origin_allowlist: null,
        expires_at: null,
        message: agent.message,
      })
    })
  }
  return (
    <section aria-labelledby="frame.create-title">
      <h2 id="frame.create-title">Create an agent</h2>
      <form class="sign-in" onSubmit={create}>
        <input
          ref={name}
          aria-label="Name"
          placeholder="Name, such as price-watcher"
          maxLength={64}
          autocomplete="off"
        />
        <button aria-disabled={isBusy}>Create an agent</button>
      </form>
      <Failure error={error} />
      {mayBeDone(error) && (
        <p>
          Nobody can tell whether an agent was created. If so, nobody has its key: create another one once the platform
          API responds.
        </p>
      )}
      {error !== undefined && error.status >= 400 && !mayBeDone(error) && <p>No agent was created.</p>}
      <p class="muted">It gets a secret key at once, which is shown to you and used in this tab.</p>
    </section>
  )
}

type Props = { readonly apiUrl: string; readonly note: string; readonly onSignedIn: (created?: MintedKey) => void }

/** Asks for a secret key, which the platform has to accept before it is kept. */
export const SignIn = ({ apiUrl, note, onSignedIn }: Props) => {
  const input = useRef<HTMLInputElement>(null)
  const [fault, setFault] = useState("")
  const said = useRef<HTMLParagraphElement>(null)
  // Whoever signed out reads on here.
  useEffect(() => said.current?.focus(), [note])
  const { error, isBusy, attempt } = useTry()
  const submit = (): void => {
    if (isBusy) return
    const key = input.current?.value.trim() ?? ""
    // From here on the key is in no element.
    if (input.current !== null) input.current.value = ""
    void attempt(async () => {
      const found = faultOf(key)
      setFault(found)
      if (found !== "") return
      const { ask, keysPath } = createApi(apiUrl, () => key)
      await ask({ path: `${keysPath}?limit=1` })
      // Whoever left the page meanwhile isn't signed in.
      if (input.current === null) return
      keepKey(key)
      onSignedIn()
    })
  }
  return (
    <>
      {note !== "" && (
        <p class="note" tabIndex={-1} ref={said}>
          {note}
        </p>
      )}
      <div class="ways-in">
        <CreateAgent apiUrl={apiUrl} onCreated={onSignedIn} />
        <section aria-labelledby="frame.console-title">
          <h2 id="frame.console-title">Sign in with a key</h2>
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
            <button type="button" class="primary" aria-disabled={isBusy} onClick={submit}>
              Sign in
            </button>
          </div>
          <p class="muted" role="status">
            {isBusy ? "Asking the platform…" : fault}
          </p>
          <Failure error={error} />
          <p class="muted">
            The key stays in this tab and goes to {new URL(apiUrl).origin} alone. Signing out or {idleMinutes} minutes
            without use forget it. A person's key (<code>svc_sk_…</code>) comes from whoever runs this copy:{" "}
            <code>pnpm start</code> prints where it keeps one.
          </p>
        </section>
      </div>
    </>
  )
}
