import { useState } from "preact/hooks"
import { chooseTool, chosenTool } from "../address.ts"
import { root } from "../dom.ts"
import { CodeBox } from "./copy-button.tsx"
import { sameIn, type Watching } from "./same-in.ts"

export const SameInTabs = ({ watching }: { readonly watching: Watching }) => {
  const [tool, setTool] = useState(chosenTool)
  const texts = Object.entries(sameIn(watching))
  const [chosen, text] = texts.find(([name]) => name === tool) ?? texts[0] ?? ["", ""]
  const choose = (name: string): void => {
    chooseTool(name)
    setTool(name)
  }
  return (
    <section class="same-in">
      <h3>The same in</h3>
      <p class="muted">
        Each needs an API key in <code>SVC_API_KEY</code>. To get one, create an agent in the{" "}
        <a href={`${root}/console`}>console</a>.
      </p>
      <div class="tabs">
        {texts.map(([name]) => (
          <button key={name} type="button" aria-pressed={name === chosen} onClick={() => choose(name)}>
            {name}
          </button>
        ))}
      </div>
      <CodeBox text={text} of="the code" />
    </section>
  )
}
