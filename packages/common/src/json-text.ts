// Inspects JSON texts without parsing them. Strings are skipped by the engine's own search, and nothing recurses.
// Codes of characters: 0x22 is a quote, 0x2c a comma, 0x3a a colon, 0x5b and 0x5d are brackets, 0x5c is a backslash, 0x7b and 0x7d are braces.

const stringEnd = (json: string, start: number): number => {
  let end = json.indexOf('"', start + 1)
  while (end > 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  // A text that ends inside a string isn't JSON, and has nothing after it.
  return end < 0 ? json.length : end
}

const isEscaped = (json: string, at: number): boolean => {
  let backslashes = 0
  while (json.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}

/** The first duplicate key in an object of a valid JSON text, with escapes decoded; undefined if there is none. */
export const duplicateKey = (json: string): string | undefined => {
  // One entry per nesting level: the keys of an object so far, or undefined for an array.
  const levels: (Set<string> | undefined)[] = []
  let keyNext = false
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === 0x7b || code === 0x5b) {
      keyNext = code === 0x7b
      levels.push(keyNext ? new Set() : undefined)
    } else if (code === 0x7d || code === 0x5d) {
      levels.pop()
      keyNext = false
    } else if (code === 0x2c) keyNext = levels.at(-1) !== undefined
    else if (code === 0x22) {
      const start = i
      i = stringEnd(json, start)
      if (!keyNext) continue
      const key = String(JSON.parse(json.slice(start, i + 1)))
      const keys = levels.at(-1)
      if (keys?.has(key)) return key
      keys?.add(key)
      keyNext = false
    }
  }
  return undefined
}

/** Whether a text has more than `most` members and elements in all; an empty container counts as one. Accepts any text. */
export const hasMoreValues = (json: string, most: number): boolean => {
  // Every value needs at least one character.
  if (json.length <= most) return false
  let values = 0
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === 0x22) i = stringEnd(json, i)
    else if ((code === 0x2c || code === 0x5b || code === 0x7b) && ++values > most) return true
  }
  return values > most
}

/** Whether arrays and objects are nested more than `most` levels deep. Accepts any text. */
export const isDeeper = (json: string, most: number): boolean => {
  let depth = 0
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === 0x22) i = stringEnd(json, i)
    else if (code === 0x7d || code === 0x5d) depth--
    else if ((code === 0x7b || code === 0x5b) && ++depth > most) return true
  }
  return false
}

const scalar = /[^\s,\]}]*/y

/**
 * The text of the string, number, boolean or null at a path of a valid JSON text, as it is written there: a number keeps all its
 * digits. Of a key that an object has twice the last counts, as for JSON.parse. Undefined if there is no such value.
 */
export const sourceAt = (json: string, path: readonly string[]): string | undefined => {
  // One entry per nesting level: the present key of an object, or null for an array.
  const keys: (string | null)[] = []
  let keyNext = false
  let found: string | undefined
  const isThere = (): boolean => keys.length === path.length && path.every((name, level) => keys[level] === name)
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === 0x7b || code === 0x5b) {
      if (isThere()) found = undefined
      keyNext = code === 0x7b
      keys.push(keyNext ? "" : null)
    } else if (code === 0x7d || code === 0x5d) {
      keys.pop()
      keyNext = false
    } else if (code === 0x2c) keyNext = keys.at(-1) !== null
    else if (code === 0x22) {
      const start = i
      i = stringEnd(json, start)
      if (keyNext) keys[keys.length - 1] = String(JSON.parse(json.slice(start, i + 1)))
      else if (isThere()) found = json.slice(start, i + 1)
      keyNext = false
    } else if (code > 0x20 && code !== 0x3a) {
      scalar.lastIndex = i
      const [text = ""] = scalar.exec(json) ?? []
      if (isThere()) found = text
      i += text.length - 1
    }
  }
  return found
}
