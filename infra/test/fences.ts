// The code fences of a Markdown page, with the heading that each stands under.

export type Fence = {
  readonly heading: string
  /** The first word after the backticks. */
  readonly language: string
  /** What the second word asks for: `run`, `run=embedded`, `serve=relay`; empty without one. */
  readonly action: string
  readonly argument: string
  readonly code: string
}

export const fencesOf = (page: string): readonly Fence[] => {
  const fences: Fence[] = []
  let heading = ""
  let open: { readonly words: readonly string[]; readonly lines: string[] } | undefined
  for (const line of page.split("\n")) {
    if (open === undefined && line.startsWith("#")) heading = line.replace(/^#+ /, "")
    else if (open === undefined && line.startsWith("```")) open = { words: line.slice(3).split(" "), lines: [] }
    else if (open !== undefined && line === "```") {
      const [language = "", directive = ""] = open.words
      const [action = "", argument = ""] = directive.split("=")
      fences.push({ heading, language, action, argument, code: open.lines.join("\n") })
      open = undefined
    } else open?.lines.push(line)
  }
  return fences
}
