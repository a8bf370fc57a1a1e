import { useState } from "preact/hooks"
import { CodeBox } from "./code-box.tsx"
import { sameIn, type Watching } from "./same-in.ts"

/** How to see the same from elsewhere. */
export const SameInTabs = (watching: Watching) => {
  const texts = Object.entries(sameIn(watching))
  const [chosen, choose] = useState(0)
  const text = texts[chosen]?.[1] ?? ""
  return (
    <section class="same-in">
      <h3>The same in</h3>
      <div class="tabs">
        {texts.map(([name], index) => (
          <button key={name} type="button" aria-pressed={index === chosen} onClick={() => choose(index)}>
            {name}
          </button>
        ))}
      </div>
      <CodeBox text={text} of="the code" />
    </section>
  )
}
