const fenceOpening = /[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}(?=[^`\r\n]*\r?$)|~{3,}).*\n?/my
const moduleOpening =
  /import\s*(?:[\w*{$][^'"`;]*?\sfrom\s*)?['"]|export\s+(?:default|const|let|var|function|async|class|type|interface)\b|export\s*[{*]/y
const tagOpening = /<(?![A-Za-z][\w+.-]*:\/\/|mailto:)(?:\/?[A-Za-z][\w.:-]*(?=[\s/>])|\/?>)/y
const special = /[`\\<{\n]/g
// A tag longer than this is no tag but a stray `<`: it keeps a hostile page from costing quadratic time.
const longestTag = 10_000

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/**
 * Takes a page's MDX parts out: imports, exports, comments and JSX tags go; text between tags and all code (fences,
 * inline code) stays byte for byte. What is no well-formed tag is text and stays.
 */
export const stripMdx = (source: string): string => {
  let out = ""
  let at = 0
  const keepTo = (end: number) => {
    out += source.slice(at, end)
    at = end
  }
  while (at < source.length) {
    const lineStart = at === 0 || source[at - 1] === "\n"
    const fence = lineStart ? matchAt(fenceOpening, source, at) : null
    if (fence !== null) keepTo(fenceEnd(source, at + fence[0].length, fence[1] ?? ""))
    else if (lineStart && matchAt(moduleOpening, source, at) !== null) at = moduleEnd(source, at)
    else if (source[at] === "`") keepTo(codeSpanEnd(source, at))
    else if (source[at] === "\\") keepTo(at + 2)
    else if (source[at] === "<") {
      const end = tagEnd(source, at)
      if (end === -1) keepTo(at + 1)
      else at = end
    } else if (source.startsWith("{/*", at) && source.includes("*/}", at)) at = source.indexOf("*/}", at) + 3
    else keepTo(plainEnd(source, at))
  }
  return out
}

/** The next character that may open something, or the next line. */
const plainEnd = (source: string, at: number): number => {
  if (source[at] === "\n") return at + 1
  const next = matchAt(special, source, at + 1)
  if (next === null) return source.length
  return next[0] === "\n" ? next.index + 1 : next.index
}

const fenceEnd = (source: string, from: number, mark: string): number => {
  const closing = new RegExp(`^[ \\t>]*${mark[0]}{${mark.length},}[ \\t]*\\r?$\\n?`, "gm")
  closing.lastIndex = from
  return closing.exec(source) === null ? source.length : closing.lastIndex
}

/** Code spans stay within a paragraph: a blank line ends the search for the closing marks. */
const codeSpanEnd = (source: string, at: number): number => {
  const marks = /`+/y.exec(source.slice(at))?.[0] ?? ""
  const rest = source.slice(at + marks.length, at + longestTag)
  const paragraph = rest.slice(0, /\n[ \t]*\r?\n/.exec(rest)?.index ?? rest.length)
  const close = new RegExp(`(?<!\`)${marks}(?!\`)`).exec(paragraph)
  return at + marks.length + (close === null ? 0 : close.index + marks.length)
}

/** The index behind a string or template literal that opens at `at`; -1 when it never closes. */
const literalEnd = (source: string, at: number, escapes: boolean): number => {
  for (let end = at + 1; end < source.length; end++) {
    if (escapes && source[end] === "\\") end++
    else if (source[end] === source[at]) return end + 1
  }
  return -1
}

/** The index behind a tag's `>`; -1 when what opens at `start` is no tag. */
const tagEnd = (source: string, start: number): number => {
  const opening = matchAt(tagOpening, source, start)
  if (opening === null) return -1
  if (opening[0].endsWith(">")) return start + opening[0].length
  let depth = 0
  const limit = Math.min(source.length, start + longestTag)
  for (let at = start + opening[0].length; at < limit; at++) {
    const char = source.charAt(at)
    if (char === '"' || char === "'" || (char === "`" && depth > 0)) {
      const end = literalEnd(source, at, depth > 0)
      if (end === -1) return -1
      at = end - 1
    } else if (char === "{") depth++
    else if (char === "}") depth--
    else if (depth === 0 && char === ">") return at + 1
    else if (depth === 0 && char === "<") return -1
  }
  return -1
}

/** An import or export ends with a line that is complete: no bracket open, no operator at its end, none on the next line. */
const moduleEnd = (source: string, start: number): number => {
  let depth = 0
  for (let at = start; at < source.length; at++) {
    const char = source.charAt(at)
    if (char === '"' || char === "'" || char === "`") {
      const end = literalEnd(source, at, true)
      if (end === -1) return source.length
      at = end - 1
    } else if ("{([".includes(char)) depth++
    else if ("})]".includes(char)) depth--
    else if (char === "\n" && depth <= 0) {
      const blankNext = /^[ \t]*\r?(?:\n|$)/.test(source.slice(at + 1, at + 100))
      const goesOn =
        /[=+\-*/,?:&|]\s*$/.test(source.slice(Math.max(start, at - 20), at)) ||
        /^[ \t]+\S|^[.?:&|+]/.test(source.slice(at + 1, at + 100))
      const complete = !source.startsWith("import", start) || /['"]/.test(source.slice(start, at))
      if (blankNext || (complete && !goesOn)) return at + 1
    }
  }
  return source.length
}
