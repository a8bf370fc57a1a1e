import { shellWord } from "@svc/common/foreign-text"
import type { Context } from "../command.ts"
import { commands } from "../commands.ts"
import { commonOptions } from "./options.ts"

type Given = Pick<Context, "options">

const optionsText = (names: readonly string[], { options }: Given): string =>
  names.flatMap((name) => (options[name] === undefined ? [] : [`--${name} ${shellWord(options[name])}`])).join(" ")

// Which copy of the platform, and which journal. A payment in another journal is another payment.
const places = ["relay-url", "api-url", "docs-url", "context", "journal"] as const

/** The options that a command that continues needs as well. */
export const keptOptions = (given: Given): string =>
  optionsText(["stack", "websocket-url", ...places.filter((name) => name !== "docs-url")], given)

/** A text whose commands get the options of this call that say where: without them they would act on another copy or journal. */
export const withKeptOptions = (text: string, given: Given): string =>
  commands.reduce((said, { name, options = [] }) => {
    // It lists every copy.
    if (name === "contexts") return said
    const taken = places.filter(
      (place) => [...options, ...commonOptions].includes(place) && !said.includes(`--${place} `),
    )
    const kept = optionsText(taken, given)
    if (kept === "") return said
    return said.replaceAll(new RegExp(`\\bsvc ${name}\\b(?! --help|-)`, "g"), (command) => `${command} ${kept}`)
  }, text)
