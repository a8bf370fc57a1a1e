import type { MintedKey } from "@svc/client"
import type { ComponentChildren } from "preact"
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks"
import { AccountView } from "./account.tsx"
import { unexpected } from "./api.ts"
import { ChangesView } from "./changes.tsx"
import { Failure } from "./failure.tsx"
import { KeysView } from "./keys/keys.tsx"
import { NewKey } from "./keys/new-key.tsx"
import { type Place, usePlace } from "./place.ts"
import { keepKey } from "./session.ts"
import { RunView } from "./stacks/run.tsx"
import { SpecView } from "./stacks/spec.tsx"
import { StacksView } from "./stacks/stacks.tsx"
import { UsageView } from "./usage.tsx"

type Made = { readonly made: MintedKey; readonly replacesOwn: boolean }
type OnMade = (made: MintedKey, replacesOwn: boolean) => void

type View = {
  readonly title: string
  /** The entry of the navigation that it belongs to; its own by default. */
  readonly under?: string
  readonly show: (place: Place, onMade: OnMade) => ComponentChildren
}

const views: Readonly<Record<string, View>> = {
  account: { title: "Account", show: () => <AccountView /> },
  keys: { title: "Keys", show: (_place, onMade) => <KeysView onMade={onMade} /> },
  usage: { title: "Usage", show: () => <UsageView /> },
  stacks: { title: "Stacks", show: () => <StacksView /> },
  specs: { title: "Spec", under: "stacks", show: ({ id = 0 }) => <SpecView id={id} /> },
  runs: { title: "Run", under: "stacks", show: ({ id = 0 }) => <RunView id={id} /> },
  changes: { title: "Changes", show: () => <ChangesView /> },
}

/** New keys that wait to be stored. Nobody can show a key again, so they stay whichever view is open, and the next one doesn't take their place. */
const useNewKeys = () => {
  const [keys, setKeys] = useState<readonly Made[]>([])
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
  return { keys, add, remove: (made: MintedKey): void => setKeys((all) => all.filter((one) => one.made !== made)) }
}

/** What it holds, or why that can't be shown. */
const Shown = ({ children }: { readonly children: ComponentChildren }) => {
  const [error] = useErrorBoundary()
  return error === undefined ? <>{children}</> : <Failure error={unexpected(error)} />
}

/** The account's views, one at a time. */
export const Views = ({ onSignOut }: { readonly onSignOut: () => void }) => {
  const place = usePlace()
  const name = Object.hasOwn(views, place.view) ? place.view : "account"
  const view = views[name]
  const newKeys = useNewKeys()
  // A view begins anew with another key.
  const [round, setRound] = useState(0)
  const use = (made: MintedKey): void => {
    keepKey(made.key)
    newKeys.remove(made)
    setRound(round + 1)
  }
  const title = useRef<HTMLHeadingElement>(null)
  const before = useRef(name)
  // Whoever went to another view by a key reads on there.
  useEffect(() => {
    if (before.current !== name) title.current?.focus()
    before.current = name
  }, [name, place.id])
  return (
    <>
      <nav class="views" aria-label="Console">
        {Object.entries(views).map(
          ([key, { title: text, under }]) =>
            under === undefined && (
              <a key={key} href={`#/${key}`} aria-current={(view?.under ?? name) === key ? "page" : undefined}>
                {text}
              </a>
            ),
        )}
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </nav>
      <h2 ref={title} tabIndex={-1}>
        {view?.title} {place.id}
      </h2>
      {newKeys.keys.map(({ made, replacesOwn }) => (
        <NewKey
          key={made.id}
          made={made}
          onUse={replacesOwn ? () => use(made) : undefined}
          onDone={() => newKeys.remove(made)}
        />
      ))}
      <Shown key={`${name} ${place.id} ${round}`}>{view?.show(place, newKeys.add)}</Shown>
    </>
  )
}
