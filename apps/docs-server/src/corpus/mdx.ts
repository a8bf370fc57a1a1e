// We don't use an MDX compiler: it rejects a page with a stray brace, and it returns a tree, not the original text.

const { raw } = String
const blankLine = raw`\n[ \t]*\r?\n`
/** Any text up to what follows it, but never past `stop`. Bounded, so that the time grows only linearly with the page. */
const upTo = (stop: string, char = "[^]"): string => `(?:(?!${stop})${char}){0,2000}?`

const fence =
  raw`^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?<mark>${"`"}{3,}(?=[^${"`"}\n]*$)|~{3,})` +
  raw`[^]*?(?:^[ \t>]*\k<mark>[~${"`"}]*[ \t]*\r?$|(?![^]))`
const codeSpan = `(?<ticks>\`+)(?!\`)${upTo(blankLine)}(?<!\`)\\k<ticks>(?!\`)|\`+`
const escaped = raw`\\[^]`

const quoted = ['"', "'", "`"].map((mark) => `${mark}[^${mark}]{0,2000}${mark}`).join("|")
const braces = (inner: string): string => `\\{(?:[^{}"'\`]|${quoted}|${inner}){0,2000}\\}`
const value = `[^<>"'\`{}]|${quoted}|${braces(braces(braces("(?!)")))}`
// Neither `<https://…>` nor `<mailto:…>` is a tag.
const tag = raw`<(?![\w+.-]+://|mailto:)/?[A-Za-z][\w.:-]*(?:[\s/](?:${value}){0,2000})?>|</?>`
const comment = raw`\{/\*${upTo(raw`\{/\*`)}\*/\}`
const importing =
  raw`^import\s*(?:[\w*{$]${upTo(raw`${blankLine}|\nimport`, "[^'\"`;]")}\sfrom\s*)?` +
  raw`(?:"[^"\n]*"|'[^'\n]*')\s*;?[ \t]*$\n?`
// Up to the closing bracket if the first line opens one, else all indented lines that follow.
const exporting =
  raw`^export(?:\s+(?:default|const|let|var|function|async|class|type|interface)\b|\s*[{*])` +
  raw`.*?(?:[({[]\r?\n${upTo("^export")}^[)}\]].*|(?:\r?\n[ \t]+\S.*)*)$\n?`

const pieces = new RegExp(`${fence}|${escaped}|${codeSpan}|(?<gone>${importing}|${exporting}|${comment}|${tag})`, "gm")

/**
 * Takes the MDX parts out of a page: imports, exports, comments and JSX tags go; text between tags and all code (fences,
 * inline code) stays byte for byte. Tags that are too long or nested too deeply stay too.
 */
export const stripMdx = (source: string): string =>
  source.replaceAll(pieces, (piece, ...more) => {
    const groups: unknown = more.at(-1)
    return Object(groups).gone === undefined ? piece : ""
  })
