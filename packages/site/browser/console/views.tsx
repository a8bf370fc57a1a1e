import type { MintedKey, Profile } from "@svc/client"
import type { ComponentChildren, RefObject } from "preact"
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks"
import { AccountView } from "./account.tsx"
import { unexpected, useApi } from "./api.ts"
import { ChangesView } from "./changes.tsx"
import { Failure } from "./failure.tsx"
import { KeysView } from "./keys/keys.tsx"
import { NewKey } from "./keys/new-key.tsx"
import { type Place, usePlace } from "./place.ts"
import { keepKey } from "./session.ts"
import type { AstFile } from "./stacks/publishing.ts"
import { RunView } from "./stacks/run.tsx"
import { SpecName } from "./stacks/runs-table.tsx"
import { SpecView } from "./stacks/spec.tsx"
import { StacksView } from "./stacks/stacks.tsx"
import { brief } from "./text.ts"
import { type Reading, useRead } from "./use-read.ts"
import { UsageView } from "./usage.tsx"

type Made = { readonly made: MintedKey; readonly replacesOwn: boolean }
type OnMade = (made: MintedKey, replacesOwn: boolean) => void

type View = {
  readonly title: string
  /** The entry of the navigation that it belongs to; its own by default. */
  readonly under?: string
  /** Behind the title of a view that shows one record, and has its id in its address. */
  readonly heading?: (id: number) => ComponentChildren
  readonly show: (place: Place, held: Held) => ComponentChildren
}

/** What outlives a view. */
type Held = {
  readonly onMade: OnMade
  readonly onEnded: (note: string) => void
  /** The agent whose key it is; undefined for a person, and until it was read. */
  readonly profile: Reading<Profile>
  readonly draft: AstFile | undefined
  readonly setDraft: (file: AstFile | undefined) => void
}

const views: Readonly<Record<string, View>> = {
  account: { title: "Account", show: (_, { profile }) => <AccountView profile={profile} /> },
  keys: { title: "Keys", show: (_, { onMade, onEnded }) => <KeysView onMade={onMade} onEnded={onEnded} /> },
  usage: { title: "Usage", show: () => <UsageView /> },
  stacks: { title: "Stacks", show: (_, { draft, setDraft }) => <StacksView draft={draft} setDraft={setDraft} /> },
  specs: {
    title: "Stack",
    under: "stacks",
    heading: (id) => <SpecName id={id} />,
    show: ({ id = 0 }) => <SpecView id={id} />,
  },
  runs: { title: "Run", under: "stacks", heading: (id) => id, show: ({ id = 0 }) => <RunView id={id} /> },
  changes: { title: "Changes", show: () => <ChangesView /> },
}
const nowhere: View = { title: "There is no such view", under: "", show: () => <p>Choose one above.</p> }

/** New keys that wait to be stored. Nobody can show a key again, so they stay whichever view is open, and the next one doesn't take their place. */
const useNewKeys = (first: MintedKey | undefined) => {
  const [keys, setKeys] = useState<readonly Made[]>(first === undefined ? [] : [{ made: first, replacesOwn: false }])
  useEffect(() => {
    if (keys.length === 0) return undefined
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener("beforeunload", ask)
    return () => removeEventListener("beforeunload", ask)
  }, [keys.length === 0])
  const add: OnMade = (made, replacesOwn) => {
    if (typeof made.key !== "string") throw new TypeError("there is no key in it")
    setKeys((all) => [{ made, replacesOwn }, ...all])
  }
  return {
    keys,
    add,
    /** It is the console's own now, and stands until it is stored. */
    used: (made: MintedKey): void =>
      setKeys((all) => all.map((one) => (one.made === made ? { made, replacesOwn: false } : one))),
    remove: (made: MintedKey): void => setKeys((all) => all.filter((one) => one.made !== made)),
  }
}

/** Gives the focus to the title when what had it goes: a button that has done its work, a view that failed. */
const useFocusKept = (title: RefObject<HTMLElement | null>): void =>
  useEffect(() => {
    let held: EventTarget | null = null
    const hold = ({ target }: FocusEvent): void => void (held = target)
    const seen = new MutationObserver(() => {
      if (!(held instanceof Element) || held.isConnected) return
      held = null
      if (document.activeElement === document.body) title.current?.focus({ preventScroll: true })
    })
    const place = title.current?.parentElement
    place?.addEventListener("focusin", hold)
    if (place != null) seen.observe(place, { childList: true, subtree: true })
    return () => {
      seen.disconnect()
      place?.removeEventListener("focusin", hold)
    }
  }, [])

type Props = {
  readonly first: MintedKey | undefined
  /** Whether somebody has just signed in here. */
  readonly isNew: boolean
  readonly onSignOut: (note?: string) => void
}

/** What it holds, or why that can't be shown. */
const Shown = ({ children }: { readonly children: ComponentChildren }) => {
  const [error] = useErrorBoundary()
  return error === undefined ? <>{children}</> : <Failure error={unexpected(error)} isWhole />
}

export const Views = ({ first, isNew, onSignOut }: Props) => {
  const place = usePlace()
  const name = place.view
  const named = Object.hasOwn(views, name) ? views[name] : undefined
  const view = named !== undefined && (named.heading === undefined) === (place.id === undefined) ? named : nowhere
  const { isPerson } = useApi()
  const profile = useRead<Profile>(isPerson ? undefined : "/api/agents/me")
  const [draft, setDraft] = useState<AstFile>()
  const newKeys = useNewKeys(first)
  // A view begins anew with another key.
  const [round, setRound] = useState(0)
  const use = (made: MintedKey): void => {
    keepKey(made.key)
    newKeys.used(made)
    setRound(round + 1)
  }
  /** The console's own key has ended. A new key that isn't stored yet keeps the console open. */
  const onEnded = (note: string): void => {
    if (newKeys.keys.length === 0) onSignOut(note)
  }
  const signOut = (): void => {
    if (newKeys.keys.length === 0 || confirm("A new key is shown that nobody can show again. Sign out all the same?"))
      onSignOut()
  }
  const title = useRef<HTMLHeadingElement>(null)
  useFocusKept(title)
  // The browser's history lists each view.
  useEffect(() => {
    const whole = document.title
    document.title = [view.title, place.id, "·", whole].filter((part) => part !== undefined).join(" ")
    return () => void (document.title = whole)
  }, [view, place.id])
  const before = useRef(isNew && first === undefined ? "" : name)
  // Whoever went to another view by a key reads on there.
  useEffect(() => {
    if (before.current !== name) {
      title.current?.focus()
      // Its tab too, which stands above it.
      title.current?.previousElementSibling?.scrollIntoView({ block: "nearest" })
    }
    before.current = name
  }, [name, place.id])
  return (
    <>
      <nav class="views" aria-label="Console">
        {Object.entries(views).map(
          ([key, { title: text, under }]) =>
            under === undefined && (
              <a key={key} href={`#/${key}`} aria-current={(view.under ?? name) === key ? "page" : undefined}>
                {text}
              </a>
            ),
        )}
        <span class="who">{isPerson ? "a person" : brief(profile.body?.display_name ?? "", 40)}</span>
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </nav>
      <h2 ref={title} tabIndex={-1}>
        {view.title} {place.id !== undefined && view.heading?.(place.id)}
      </h2>
      {newKeys.keys.map(({ made, replacesOwn }) => (
        <NewKey
          key={made.id}
          made={made}
          onUse={replacesOwn ? () => use(made) : undefined}
          onDone={() => newKeys.remove(made)}
        />
      ))}
      <Shown key={`${name} ${place.id} ${round}`}>
        {view.show(place, { onMade: newKeys.add, onEnded, profile, draft, setDraft })}
      </Shown>
    </>
  )
}
