// Types as Rust source writes them: "Option < Vec < ore_sdk :: types :: Square > >".

const closing = new Map([
  ["<", ">"],
  ["(", ")"],
  ["[", "]"],
])

// Text generated from a nested type can be many times as long.
export const maxTypeDepth = 32

/** The fault of a text as a type: it is empty or too deeply nested, or its brackets don't match. */
export const rustTypeFault = (text: string): string | undefined => {
  const compact = compactType(text)
  if (compact === "") return "must not be empty"
  const awaited: string[] = []
  for (const char of compact) {
    const closer = closing.get(char)
    if (closer !== undefined) {
      if (awaited.push(closer) > maxTypeDepth) return `is nested deeper than ${maxTypeDepth} levels`
    } else if (">)]".includes(char) && awaited.pop() !== char) return `has a "${char}" without an opening bracket`
  }
  const missing = awaited.at(-1)
  if (missing !== undefined) return `lacks a "${missing}"`
  return compact.includes("<>") ? `has an empty "<>"` : undefined
}

export const compactType = (text: string): string => text.replaceAll(/\s+/gu, "")

/** How deep the brackets of a compact type are nested. */
export const nestingOf = (compact: string): number => {
  let depth = 0
  let deepest = 0
  for (const bracket of compact.match(/[<>()[\]]/g) ?? []) {
    depth += closing.has(bracket) ? 1 : -1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

/** The content of the outermost `Option<…>` of a compact type; undefined if there is none. */
export const optionContent = (compact: string): string | undefined => {
  if (!compact.startsWith("Option<") || !compact.endsWith(">")) return undefined
  const content = compact.slice("Option<".length, -1)
  let depth = 0
  for (const char of content) {
    if (char === "<") depth += 1
    // Closed before the end: `Option<A>` is only the beginning of the type.
    else if (char === ">" && --depth < 0) return undefined
  }
  return content
}

/** Every name in a compact type, with its path: `Vec<a::B>` gives `Vec` and `a::B`. */
export const namesIn = (compact: string): string[] => compact.match(/[\p{L}\p{N}_]+(?:::[\p{L}\p{N}_]+)*/gu) ?? []
