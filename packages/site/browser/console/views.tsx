import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { AccountView } from "./account.tsx"
import { ChangesView } from "./changes.tsx"
import { KeysView } from "./keys/keys.tsx"
import { type Place, usePlace } from "./place.ts"
import { RunView } from "./stacks/run.tsx"
import { SpecView } from "./stacks/spec.tsx"
import { StacksView } from "./stacks/stacks.tsx"
import { UsageView } from "./usage.tsx"

type View = {
  readonly title: string
  /** The entry of the navigation that it belongs to; its own by default. */
  readonly under?: string
  readonly show: (place: Place) => ComponentChildren
}

const views: Readonly<Record<string, View>> = {
  account: { title: "Account", show: () => <AccountView /> },
  keys: { title: "Keys", show: () => <KeysView /> },
  usage: { title: "Usage", show: () => <UsageView /> },
  stacks: { title: "Stacks", show: () => <StacksView /> },
  specs: { title: "Spec", under: "stacks", show: ({ id = 0 }) => <SpecView key={id} id={id} /> },
  runs: { title: "Run", under: "stacks", show: ({ id = 0 }) => <RunView key={id} id={id} /> },
  changes: { title: "Changes", show: () => <ChangesView /> },
}

/** The account's views, one at a time. */
export const Views = ({ onSignOut }: { readonly onSignOut: () => void }) => {
  const place = usePlace()
  const name = Object.hasOwn(views, place.view) ? place.view : "account"
  const view = views[name]
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
      {view?.show(place)}
    </>
  )
}
