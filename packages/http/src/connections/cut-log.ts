import type { CutReason } from "./connections.ts"
import type { Logger } from "pino"

const everyMs = 60_000

/** Tells the operator that clients are cut off, by which bounds and how many: at once, then once a minute. */
export const createCutLog = (log: Pick<Logger, "warn"> | undefined) => {
  let counts: Partial<Record<CutReason, number>> = {}
  let quiet = false
  const tell = (): void => {
    quiet = Object.keys(counts).length > 0
    if (!quiet) return
    log?.warn({ clients: counts }, "clients were cut off: see SVC_HTTP_… in the configuration")
    counts = {}
    setTimeout(tell, everyMs).unref()
  }
  return (reason: CutReason): void => {
    counts[reason] = (counts[reason] ?? 0) + 1
    if (!quiet) tell()
  }
}
