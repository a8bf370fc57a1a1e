// Reads the commands of the pages as a shell and curl would, as far as the pages use them.

export type HttpRequest = {
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | undefined
}

/** The names of the variables that a command uses. */
export const variablesOf = (command: string): string[] => [
  ...new Set([...command.matchAll(/\$([A-Z][A-Z0-9_]*)/g)].map(([, name = ""]) => name)),
]

/** Splits a command into words: quotes, escapes, continued lines and variables as in a shell. */
export const shellWords = (command: string, variables: ReadonlyMap<string, string>): string[] => {
  const valueOf = (name: string): string => {
    const value = variables.get(name)
    if (value === undefined) throw new Error(`the variable ${name} has no value yet`)
    return value
  }
  const expand = (text: string): string =>
    text.replace(
      /\\(["\\$])|\$([A-Z][A-Z0-9_]*)/g,
      (_, escaped: string | undefined, name: string) => escaped ?? valueOf(name),
    )
  const words: string[] = []
  let word: string | undefined
  const token = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\\n|(\s+)|([^\s'"\\]+)/gsy
  const text = command.trim()
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const match = token.exec(text)
    if (match === null) throw new Error(`can't read the command at: ${text.slice(at, at + 20)}`)
    const [, single, double, space, bare] = match
    if (space !== undefined) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (single !== undefined) word = (word ?? "") + single
    else if (double !== undefined) word = (word ?? "") + expand(double)
    else if (bare !== undefined) word = (word ?? "") + expand(bare)
  }
  if (word !== undefined) words.push(word)
  return words
}

/** What curl would send. Throws on an option that the pages do not use. */
export const curlRequest = ([program, ...words]: readonly string[]): HttpRequest => {
  if (program !== "curl") throw new Error(`not a curl command: ${String(program)}`)
  let url: string | undefined
  let method: string | undefined
  let body: string | undefined
  const headers: (readonly [string, string])[] = []
  const rest = words.values()
  const next = (option: string): string => {
    const { value } = rest.next()
    if (value === undefined) throw new Error(`${option} lacks its value`)
    return value
  }
  for (const word of rest) {
    if (word === "-X") method = next(word)
    else if (word === "-d") body = next(word)
    else if (word === "--json") {
      body = next(word)
      headers.push(["content-type", "application/json"], ["accept", "application/json"])
    } else if (word === "-H") {
      const [, name = "", value = ""] = /^([^:]+): (.*)$/.exec(next(word)) ?? []
      headers.push([name.toLowerCase(), value])
    } else if (word === "-o") next(word)
    else if (word === "-i") continue
    else if (word.startsWith("-") || url !== undefined) throw new Error(`unknown word in a curl command: ${word}`)
    else url = word
  }
  if (url === undefined) throw new Error("a curl command without a URL")
  return { url, method: method ?? (body === undefined ? "GET" : "POST"), headers, body }
}
