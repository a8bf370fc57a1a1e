// The console: an account's keys, usage and stacks, by a key that this tab alone keeps.
import "./console/console.css"
import { render } from "preact"
import { App } from "./console/app.tsx"

const place = document.getElementById("frame.console")
if (place !== null) {
  const apiUrl = place.dataset["api"] ?? ""
  // What was shown must not come back with the page: it is drawn anew, from what the tab still keeps.
  addEventListener("pagehide", () => render(null, place))
  addEventListener("pageshow", () => {
    place.replaceChildren()
    render(<App apiUrl={apiUrl} />, place)
  })
}
