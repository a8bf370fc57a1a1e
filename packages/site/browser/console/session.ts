// The key of this tab. It is in sessionStorage alone, until "Sign out" or half an hour without use.
export const idleMinutes = 30

const keyItem = "svc.console.key"
const usedItem = "svc.console.used"

/** A browser that lets a site store nothing throws at any look. */
const stored = (item: string): string | null => {
  try {
    return sessionStorage.getItem(item)
  } catch {
    return null
  }
}

export const forgetKey = (): void => {
  sessionStorage.removeItem(keyItem)
  sessionStorage.removeItem(usedItem)
}

/** The key, if there is one. A key that nobody used for half an hour is forgotten here. */
export const readKey = (): string | undefined => {
  const key = stored(keyItem)
  if (key === null) return undefined
  // A clock that was set back must not keep a key for longer either.
  const unusedMs = Math.abs(Date.now() - Number(stored(usedItem)))
  if (unusedMs < idleMinutes * 60_000) return key
  forgetKey()
  return undefined
}

/** Someone is here: the half hour begins anew, unless it is over. */
export const noteUse = (): void => {
  if (readKey() !== undefined) sessionStorage.setItem(usedItem, String(Date.now()))
}

/** Keeps a key for this tab. Throws where the browser lets the site store nothing. */
export const keepKey = (key: string): void => {
  sessionStorage.setItem(usedItem, String(Date.now()))
  sessionStorage.setItem(keyItem, key)
}
