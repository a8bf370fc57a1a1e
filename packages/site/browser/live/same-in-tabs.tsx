import { CodeBox } from "./code-box.tsx"
import { sameIn, type Watching } from "./same-in.ts"
import type { Address } from "./use-address.ts"

/** How to see the same from elsewhere. */
export const SameInTabs = ({ watching, address }: { readonly watching: Watching; readonly address: Address }) => {
  const texts = Object.entries(sameIn(watching))
  const [chosen, text] = texts.find(([name]) => name === address.chosen("in")) ?? texts[0] ?? ["", ""]
  return (
    <section class="same-in">
      <h3>The same in</h3>
      <div class="tabs">
        {texts.map(([name]) => (
          <button key={name} type="button" aria-pressed={name === chosen} onClick={() => address.choose({ in: name })}>
            {name}
          </button>
        ))}
      </div>
      <CodeBox text={text} of="the code" />
    </section>
  )
}
