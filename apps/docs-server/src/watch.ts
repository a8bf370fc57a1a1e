import { watch } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"

// Editors save in several steps: the folder is read when it has been quiet for a moment.
const quietMs = 100
const defaultLookMs = 2000

type Watcher = {
  readonly on: (event: string, listener: (value: unknown) => void) => unknown
  readonly close: () => void
}

export type WatchOptions = {
  /** Told once, in a sentence, when the system cannot watch the folder. */
  readonly onTrouble: (reason: string) => void
  /** The system's watcher. */
  readonly open?: (dir: string) => Watcher
  /** How often the folder is looked for, in milliseconds. */
  readonly lookMs?: number
}

const openWatcher = (dir: string): Watcher => watch(dir, { recursive: true })

/** Times and sizes of all files below a folder, as one text. */
const fingerprint = async (dir: string): Promise<string> => {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const states = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const path = join(parentPath, name)
        const state = await stat(path).catch(() => undefined)
        return `${path} ${state?.mtimeMs} ${state?.size}`
      }),
  )
  return states.sort().join("\n")
}

/**
 * Calls back after something in the folder changed, one call at a time. The system watches; every two seconds it is seen
 * whether the folder is still the same one (it may be moved away, and another put in its place), and where the system
 * cannot watch, whether a file is newer. Returns how to stop.
 */
export const watchFolder = (
  dir: string,
  onChange: () => Promise<void>,
  { onTrouble, open = openWatcher, lookMs = defaultLookMs }: WatchOptions,
): (() => void) => {
  let quiet: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  let watcher: Watcher | undefined
  let watched: string | undefined
  let troubled = false
  let stopped = false
  let seen: string | undefined

  const changed = (): void => {
    clearTimeout(quiet)
    quiet = setTimeout(() => {
      running = running.then(onChange)
    }, quietMs)
  }
  const unwatch = (): void => {
    watcher?.close()
    watcher = undefined
  }
  const fail = (error: unknown): void => {
    unwatch()
    // Gone for a moment: the next look finds it, or does not.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return
    if (!troubled)
      onTrouble(
        `${error instanceof Error ? error.message : String(error)}; files are compared every ${lookMs} ms instead`,
      )
    troubled = true
  }
  const startWatching = (): void => {
    try {
      watcher = open(dir)
      watcher.on("change", changed)
      watcher.on("error", fail)
    } catch (error) {
      fail(error)
    }
  }
  const look = async (): Promise<void> => {
    const now = await stat(dir).then(
      ({ dev, ino }) => `${dev} ${ino}`,
      () => undefined,
    )
    if (stopped) return
    if (now === undefined) unwatch()
    // The first look only learns which folder is watched: watching it anew would miss what changes meanwhile.
    else if (watched === undefined && watcher !== undefined) watched = now
    else if (now !== watched || (watcher === undefined && !troubled)) {
      unwatch()
      if (!troubled) startWatching()
      if (watched !== undefined) changed()
      watched = now
    } else if (troubled) {
      const state = await fingerprint(dir).catch(() => seen)
      if (!stopped && seen !== undefined && state !== seen) changed()
      seen = state
    }
  }
  startWatching()
  let looking = look()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, lookMs)
  return () => {
    stopped = true
    clearTimeout(quiet)
    clearInterval(timer)
    unwatch()
  }
}
