import { visibleJson } from "@svc/common/foreign-text"
import type { Trial } from "../../src/markdown.ts"
import { make } from "../dom.ts"

const credentials = {
  open: { name: "", said: "" },
  key: { name: "Publishable key", said: `The key's origin must be ${location.origin}. The key isn't stored.` },
  token: { name: "Session token", said: "The token isn't stored." },
} satisfies Record<Trial, object>

/** Lets a reader send what curl sends in the example, from this page. @param kind what the request needs */
export const addTryPanel = (panel: HTMLElement, kind: Trial): void => {
  const command = panel.parentElement?.querySelector("[data-language=sh] code")?.textContent ?? ""
  const [url = ""] = /https?:\/\/[^\s'"]+/.exec(command) ?? []
  const [, , json] = /--json (['"])([^]*)\1\s*$/.exec(command) ?? []
  const address = make("input", { "aria-label": "URL", value: url, ...(json !== undefined && { readonly: "" }) })
  const body =
    json === undefined
      ? undefined
      : make("textarea", { "aria-label": "Body", rows: "4", spellcheck: "false" }, json.replaceAll('\\"', '"'))
  const { name, said: first } = credentials[kind]
  const looks = {
    class: "secret-input",
    "aria-label": name,
    placeholder: name,
    autocomplete: "off",
    spellcheck: "false",
  }
  const key = name === "" ? undefined : make("input", looks)
  const said = make("p", { class: "muted", role: "status" })
  const say = (text: string): void => {
    said.textContent = text
  }
  say(first)
  const shown = make("pre", { tabindex: "0", hidden: "" })
  const { origin } = new URL(url)
  let sent = 0
  const send = async (): Promise<void> => {
    const mine = ++sent
    say("…")
    shown.hidden = true
    const [status, text] = await fetch(address.value, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(key && { authorization: `Bearer ${key.value.trim()}` }),
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: body.value }),
    })
      .then(async (response) => [`Status ${response.status}`, await response.text()] as const)
      .catch(() => [`${origin} doesn't respond now.`, ""] as const)
    // Another request was sent meanwhile.
    if (mine !== sent) return
    say(status)
    shown.textContent = visibleJson(text)
    shown.hidden = text === ""
  }
  const isSecret = (): boolean => kind === "key" && key?.value.trim().startsWith("svc_pk_") !== true
  const parts = [address, key, body, make("button", {}, "Send request")]
  const form = make("form", { class: "try" }, ...parts.filter((part) => part !== undefined))
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (URL.parse(address.value)?.origin !== origin) say(`The URL must start with ${origin}.`)
    else if (isSecret()) say("Paste a publishable key, never a secret one.")
    else void send()
  })
  panel.append(make("h3", {}, "Try it"), form, said, shown)
}
