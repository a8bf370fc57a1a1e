const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * Parses JSON bytes: UTF-8 without a byte order mark (RFC 8259 section 8.1), else a SyntaxError or TypeError.
 * @param uniqueKeys refuses an object that names a key twice, where readers would disagree about which one counts
 */
export const parseJson = (bytes: Uint8Array, uniqueKeys = false): unknown => {
  const text = utf8.decode(bytes)
  const value: unknown = JSON.parse(text)
  const duplicate = uniqueKeys ? duplicateKey(text) : undefined
  if (duplicate !== undefined) throw new SyntaxError(`the key ${JSON.stringify(duplicate)} stands twice in one object`)
  return value
}

// Whole strings are skipped by the engine's own search: most bodies are one long value.
const stringEnd = (json: string, start: number): number => {
  let end = json.indexOf('"', start + 1)
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end
}

const isEscaped = (json: string, at: number): boolean => {
  let backslashes = 0
  while (json.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}

/** The first key that stands twice in one object of a valid JSON text, escapes decoded; undefined when there is none. */
export const duplicateKey = (json: string): string | undefined => {
  // One entry a nesting level: the keys seen in an object, or undefined for an array.
  const levels: (Set<string> | undefined)[] = []
  let keyNext = false
  for (let i = 0; i < json.length; i++) {
    switch (json.charCodeAt(i)) {
      case 0x7b: // {
        levels.push(new Set())
        keyNext = true
        break
      case 0x5b: // [
        levels.push(undefined)
        keyNext = false
        break
      case 0x7d: // }
      case 0x5d: // ]
        levels.pop()
        keyNext = false
        break
      case 0x2c: // ,
        keyNext = levels.at(-1) !== undefined
        break
      case 0x22: {
        const start = i
        i = stringEnd(json, start)
        if (!keyNext) break
        const key = String(JSON.parse(json.slice(start, i + 1)))
        const keys = levels.at(-1)
        if (keys?.has(key)) return key
        keys?.add(key)
        keyNext = false
        break
      }
      default:
    }
  }
  return undefined
}
