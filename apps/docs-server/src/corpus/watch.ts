import { stat } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { listFiles } from "./files.ts"

const lookMs = 500
// Editors and version control write in several steps: a change is reported once the files have stopped changing.
const quietMs = 100
// Comparing takes at most 1/20 of the time, however many files there are.
const timeShare = 20

/** Names, times and sizes of all page files as one text, or the reason why they can't be listed. */
export const folderState = async (dir: string): Promise<string> => {
  try {
    const states = (await listFiles(dir)).map(async (file) => {
      const { ino, mtimeMs, size } = await stat(join(dir, file))
      return `${file} ${ino} ${mtimeMs} ${size}`
    })
    return (await Promise.all(states)).join("\n")
  } catch (error) {
    return String(error)
  }
}

/**
 * Calls back after the files of a folder changed, one call at a time, and returns how to stop. Files are compared, not
 * watched by the system: a watcher fails on network disks, runs out of the system's watches, and follows a folder that is
 * moved away instead of the one that takes its place.
 * @param known the state that was read last
 * @param now milliseconds on a clock that never goes back
 */
export const watchFolder = (
  dir: string,
  known: string,
  onChange: () => Promise<void>,
  now: () => number,
): (() => void) => {
  const stopping = new AbortController()
  const { signal } = stopping
  const watch = async (): Promise<void> => {
    let read = known
    let pauseMs = lookMs
    for (;;) {
      await delay(pauseMs, undefined, { signal })
      const began = now()
      let state = await folderState(dir)
      pauseMs = Math.max(lookMs, (now() - began) * timeShare)
      for (let before = read; state !== before; state = await folderState(dir)) {
        before = state
        await delay(quietMs, undefined, { signal })
      }
      if (state === read) continue
      read = state
      await onChange()
    }
  }
  watch().catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  return () => stopping.abort()
}
