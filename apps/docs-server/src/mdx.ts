// By hand, and not by an MDX compiler: that one refuses a page for a stray `<` or brace, gives a tree instead of the text
// byte for byte, and brings a parser of JavaScript. Here a page is always read, and what is no tag stays.
//
// No input may cost more than work in proportion to its length: what is looked for ahead is found once for all that
// may end there, and tags that come to nothing are given up once they have cost too much.
const fenceOpening = /[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}(?=[^`\r\n]*\r?$)|~{3,}).*\n?/my
const exportOpening = /export\s+(?:default|const|let|var|function|async|class|type|interface)\b|export\s*[{*]/y
const importOpening = /import\s*(?=(['"])|[\w*{$])/y
const tagOpening = /<(?![A-Za-z][\w+.-]*:\/\/|mailto:)(?:\/?[A-Za-z][\w.:-]*(?=[\s/>])|\/?>)/y
const special = /[`\\<{\n]/g
const longestTag = 10_000
// Characters read in vain for tags, for each of the page.
const mostInVain = 8

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** Finds where `pattern` matches next. The places asked for never go back, so the text is searched once. */
const lookAhead = (source: string, pattern: RegExp): ((from: number) => RegExpExecArray | undefined) => {
  const search = new RegExp(pattern, "gm")
  let next: RegExpExecArray | null | undefined
  return (from) => {
    if (next === undefined || (next !== null && next.index < from)) next = matchAt(search, source, from)
    return next ?? undefined
  }
}

/**
 * Takes a page's MDX parts out: imports, exports, comments and JSX tags go; text between tags and all code (fences,
 * inline code) stays byte for byte. What is no well-formed tag is text and stays.
 * @param onGivenUp called when the page has so many tags that never end that the rest of them stays
 */
export const stripMdx = (source: string, onGivenUp?: () => void): string => {
  let out = ""
  let at = 0
  let inVain = mostInVain * source.length
  const keepTo = (end: number) => {
    out += source.slice(at, end)
    at = end
  }
  const paragraphEnd = lookAhead(source, /\n[ \t]*\r?\n/)
  const commentEnd = lookAhead(source, /\*\/\}/)
  const isImport = createImportTest(source, paragraphEnd)
  const codeSpanEnd = createCodeSpans(source, paragraphEnd)
  while (at < source.length) {
    const lineStart = at === 0 || source[at - 1] === "\n"
    const fence = lineStart ? matchAt(fenceOpening, source, at) : null
    if (fence !== null) keepTo(fenceEnd(source, at + fence[0].length, fence[1] ?? ""))
    else if (lineStart && (matchAt(exportOpening, source, at) !== null || isImport(at))) at = moduleEnd(source, at)
    else if (source[at] === "`") keepTo(codeSpanEnd(at))
    else if (source[at] === "\\") keepTo(at + 2)
    else if (source[at] === "<" && inVain > 0) {
      const { end, isTag } = readTag(source, at)
      if (isTag) at = end
      else {
        inVain -= end - at
        if (inVain <= 0) onGivenUp?.()
        keepTo(at + 1)
      }
    } else if (source.startsWith("{/*", at) && commentEnd(at) !== undefined) at = (commentEnd(at)?.index ?? at) + 3
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

type PlaceAhead = ReturnType<typeof lookAhead>

/** Tells whether an import begins at a place: a string follows the word at once, or behind a `from` of its paragraph. */
const createImportTest = (source: string, paragraphEnd: PlaceAhead): ((at: number) => boolean) => {
  const quote = lookAhead(source, /(\sfrom\s*)?['"`;]/)
  return (at) => {
    const opening = matchAt(importOpening, source, at)
    if (opening === null || opening[1] !== undefined) return opening !== null
    const from = at + opening[0].length
    const end = quote(from)
    return end?.[1] !== undefined && /['"]$/.test(end[0]) && end.index < (paragraphEnd(from)?.index ?? source.length)
  }
}

/** Finds the end of a code span: behind as many marks as open it, in the same paragraph; else behind its own marks. */
const createCodeSpans = (source: string, paragraphEnd: PlaceAhead): ((at: number) => number) => {
  const runs = new Map<number, { readonly places: number[]; next: number }>()
  for (const { 0: marks, index } of source.matchAll(/`+/g)) {
    const run = runs.get(marks.length)
    if (run === undefined) runs.set(marks.length, { places: [index], next: 0 })
    else run.places.push(index)
  }
  return (at) => {
    const length = matchAt(/`+/y, source, at)?.[0].length ?? 0
    const opened = at + length
    const run = runs.get(length)
    if (run === undefined) return opened
    while ((run.places[run.next] ?? Infinity) <= at) run.next++
    const close = run.places[run.next]
    return close !== undefined && close < (paragraphEnd(opened)?.index ?? source.length) ? close + length : opened
  }
}

/** The index behind a string or template literal that opens at `at`; -1 when it does not close before `limit`. */
const literalEnd = (source: string, at: number, escapes: boolean, limit = source.length): number => {
  for (let end = at + 1; end < limit; end++) {
    if (escapes && source[end] === "\\") end++
    else if (source[end] === source[at]) return end + 1
  }
  return -1
}

/** Where what opens at `start` ends, and whether it is a tag; if not, how far it was read to see that. */
const readTag = (source: string, start: number): { readonly end: number; readonly isTag: boolean } => {
  const opening = matchAt(tagOpening, source, start)
  if (opening === null) return { end: start + 1, isTag: false }
  if (opening[0].endsWith(">")) return { end: start + opening[0].length, isTag: true }
  let depth = 0
  const limit = Math.min(source.length, start + longestTag)
  for (let at = start + opening[0].length; at < limit; at++) {
    const char = source.charAt(at)
    if (char === '"' || char === "'" || (char === "`" && depth > 0)) {
      const end = literalEnd(source, at, depth > 0, limit)
      if (end === -1) break
      at = end - 1
    } else if (char === "{") depth++
    else if (char === "}") depth--
    else if (depth === 0 && char === ">") return { end: at + 1, isTag: true }
    else if (depth === 0 && char === "<") return { end: at, isTag: false }
  }
  return { end: limit, isTag: false }
}

/** An import or export ends with a line that is complete: no bracket open, no operator at its end, none on the next line. */
const moduleEnd = (source: string, start: number): number => {
  let depth = 0
  let complete = !source.startsWith("import", start)
  for (let at = start; at < source.length; at++) {
    const char = source.charAt(at)
    if (char === '"' || char === "'" || char === "`") {
      const end = literalEnd(source, at, true)
      if (end === -1) return source.length
      complete = true
      at = end - 1
    } else if ("{([".includes(char)) depth++
    else if ("})]".includes(char)) depth--
    else if (char === "\n" && depth <= 0) {
      const blankNext = /^[ \t]*\r?(?:\n|$)/.test(source.slice(at + 1, at + 100))
      const goesOn =
        /[=+\-*/,?:&|]\s*$/.test(source.slice(Math.max(start, at - 20), at)) ||
        /^[ \t]+\S|^[.?:&|+]/.test(source.slice(at + 1, at + 100))
      if (blankNext || (complete && !goesOn)) return at + 1
    }
  }
  return source.length
}
