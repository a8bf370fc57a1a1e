// JSON texts looked at without parsing them: strings are skipped by the engine's own search, nothing recurses.

const stringEnd = (json: string, start: number): number => {
  let end = json.indexOf('"', start + 1)
  while (end > 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  // A text that ends inside a string is not JSON: there is nothing behind it to look at.
  return end < 0 ? json.length : end
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

/** Whether a text has more than `most` values: members and elements of every depth, and the containers themselves. Any text will do. */
export const hasMoreValues = (json: string, most: number): boolean => {
  // Every value takes a character.
  if (json.length <= most) return false
  let values = 1
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === 0x22) i = stringEnd(json, i)
    else if ((code === 0x2c || code === 0x5b || code === 0x7b) && ++values > most) return true
  }
  return values > most
}

/** Whether arrays and objects stand in each other on more than `most` levels. Any text will do. */
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
