import type { MintedKey } from "@svc/client"
import { useEffect, useMemo, useState } from "preact/hooks"
import { ApiProvider, createApi } from "./api.ts"
import { forgetKey, idleMinutes, noteUse, readKey } from "./session.ts"
import { SignIn } from "./sign-in.tsx"
import { Views } from "./views.tsx"

const checkMs = 10_000
const idleNote = `The key was forgotten after ${idleMinutes} minutes without use. That doesn't revoke it.`
const outNote = "Signed out: this tab has forgotten the key. That doesn't revoke it."

type Kept = {
  readonly isKept: boolean
  readonly note: string
  /** The first key of an agent that was created here, to be shown until it is stored. */
  readonly first?: MintedKey | undefined
  readonly isNew: boolean
}

/** Whether a key is kept now. While someone is here, it stays. */
const useKept = () => {
  const [kept, setKept] = useState<Kept>(() => ({ isKept: readKey() !== undefined, note: "", isNew: false }))
  const { isKept } = kept
  useEffect(() => {
    const check = (): void => {
      if (readKey() === undefined) setKept(({ note }) => ({ isKept: false, note: note || idleNote, isNew: false }))
    }
    const use = (): void => {
      check()
      noteUse()
    }
    if (!isKept) return undefined
    const timer = setInterval(check, checkMs)
    // Not "scroll": the browser scrolls by itself where a list grows.
    const events = ["pointerdown", "keydown", "wheel"]
    for (const name of events) addEventListener(name, use, { passive: true })
    document.addEventListener("visibilitychange", check)
    return () => {
      clearInterval(timer)
      for (const name of events) removeEventListener(name, use)
      document.removeEventListener("visibilitychange", check)
    }
  }, [isKept])
  return {
    ...kept,
    signedIn: (first?: MintedKey) => setKept({ isKept: true, note: "", first, isNew: true }),
    signOut: (note = outNote) => {
      forgetKey()
      setKept({ isKept: false, note, isNew: false })
    },
  }
}

/** The console: a key, and then the account's views. */
export const App = ({ apiUrl }: { readonly apiUrl: string }) => {
  const { isKept, note, first, isNew, signedIn, signOut } = useKept()
  const api = useMemo(() => (isKept ? createApi(apiUrl, readKey) : undefined), [apiUrl, isKept, first])
  if (api === undefined) return <SignIn apiUrl={apiUrl} note={note} onSignedIn={signedIn} />
  return (
    <ApiProvider value={api}>
      {/* An agent may be created while somebody signs in: its key is the tab's then, and is shown. */}
      <Views key={first?.id} first={first} isNew={isNew} onSignOut={signOut} />
    </ApiProvider>
  )
}
