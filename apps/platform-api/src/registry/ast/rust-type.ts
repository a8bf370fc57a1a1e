// Types as Rust source writes them: "Option < Vec < ore_sdk :: types :: Square > >".

const closing = new Map([
  ["<", ">"],
  ["(", ")"],
  ["[", "]"],
])

// What is made of a type, a module's text say, is many times as long where it is nested.
const deepest = 32

/** What is wrong with the text as a type, if anything: it is blank, too deep, or its brackets don't pair up. */
export const rustTypeFault = (text: string): string | undefined => {
  const compact = compactType(text)
  if (compact === "") return "must not be empty"
  const awaited: string[] = []
  for (const char of compact) {
    const closer = closing.get(char)
    if (closer !== undefined) {
      if (awaited.push(closer) > deepest) return `is nested deeper than ${deepest} levels`
    } else if (">)]".includes(char) && awaited.pop() !== char) return `has a "${char}" that closes nothing`
  }
  const missing = awaited.at(-1)
  if (missing !== undefined) return `lacks a "${missing}"`
  return compact.includes("<>") ? `has an empty "<>"` : undefined
}

export const compactType = (text: string): string => {
  return text.replaceAll(/\s+/gu, "")
}

/** What the outermost `Option<…>` of a compact type holds; undefined when there is none. */
export const optionContent = (compact: string): string | undefined => {
  if (!compact.startsWith("Option<") || !compact.endsWith(">")) return undefined
  const content = compact.slice("Option<".length, -1)
  let depth = 0
  for (const char of content) {
    if (char === "<") depth += 1
    // Closed before the end: `Option<A>` is the beginning of something else.
    else if (char === ">" && --depth < 0) return undefined
  }
  return content
}

/** Every name in a compact type, with its path: `Vec<a::B>` gives `Vec` and `a::B`. */
export const namesIn = (compact: string): string[] => {
  return compact.match(/[\p{L}\p{N}_]+(?:::[\p{L}\p{N}_]+)*/gu) ?? []
}

export const lastSegment = (name: string): string => {
  const cut = name.lastIndexOf("::")
  return cut < 0 ? name : name.slice(cut + 2)
}
