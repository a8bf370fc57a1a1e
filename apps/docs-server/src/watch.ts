import { watch } from "node:fs"

// Editors save in several steps: the folder is read when it has been quiet for a moment.
const quietMs = 100

/** Calls back after something in the folder changed, one call at a time. Returns how to stop. */
export const watchFolder = (dir: string, onChange: () => Promise<void>): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  const watcher = watch(dir, { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(onChange)
    }, quietMs)
  })
  return () => {
    clearTimeout(timer)
    watcher.close()
  }
}
