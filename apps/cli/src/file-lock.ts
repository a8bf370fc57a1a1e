import { link, open, readFile, rename, rm, stat } from "node:fs/promises"
import { hostname } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import { CliError, systemReason } from "./errors.ts"

// Longer than a holder may take: it can wait for one answer of the API.
const oldAfterMs = 90_000
const waitMs = 60_000

const isGone = (holder: string): boolean => {
  const [pid = "", host] = holder.split(" ")
  if (host !== hostname() || !/^\d+$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return systemReason(error) === "ESRCH"
  }
}

/** Takes a lock away whose holder is gone. */
const removeLeftBehind = async (path: string): Promise<void> => {
  const aside = `${path}.${process.pid}`
  try {
    const holder = await readFile(path, "utf8")
    const { mtimeMs } = await stat(path)
    if (!isGone(holder) && Date.now() - mtimeMs < oldAfterMs) return
    // Moved first, then looked at: another may have removed the old lock meanwhile, and this be a new one.
    await rename(path, aside)
    if ((await readFile(aside, "utf8")) !== holder) await link(aside, path)
  } catch (error) {
    const reason = systemReason(error)
    if (reason !== "ENOENT" && reason !== "EEXIST") throw error
  } finally {
    await rm(aside, { force: true })
  }
}

/** Waits for its turn and gives back what ends it. Of all processes that ask for the same path one at a time has it. */
export const lockFile = async (path: string): Promise<() => Promise<void>> => {
  const until = Date.now() + waitMs
  for (;;) {
    try {
      const file = await open(path, "wx", 0o600)
      await file.writeFile(`${process.pid} ${hostname()}`)
      await file.close()
      return () => rm(path, { force: true })
    } catch (error) {
      if (systemReason(error) !== "EEXIST") throw error
    }
    await removeLeftBehind(path)
    if (Date.now() > until) {
      throw new CliError("credentials-locked", `Another svc has been holding ${path} for a minute.`)
    }
    await pause(20)
  }
}
