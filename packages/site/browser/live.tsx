// Pages that show live data: panels of records, a stack's versions, and which stacks have data now.
import "./live/live.css"
import { render } from "preact"
import { make } from "./dom.ts"
import { Panel } from "./live/panel.tsx"
import { placeOf } from "./live/stack-source.ts"
import { Versions } from "./live/versions.tsx"

const smallTake = 5
const take = 20

const find = (name: string): HTMLElement | null => document.getElementById(`frame.${name}`)

const panel = find("live")
if (panel !== null) {
  const isSmall = panel.dataset["small"] !== undefined
  render(<Panel place={placeOf(panel)} isSmall={isSmall} take={isSmall ? smallTake : take} />, panel)
}
const stack = find("stack")
if (stack !== null) {
  render(<Versions api={stack.dataset["api"] ?? ""} stack={stack.dataset["stack"] ?? ""} />, stack)
  const link = make("a", { href: "#frame.versions" }, "Versions")
  document.querySelector(".contents ul")?.append(make("li", { class: "level-2" }, link))
}
