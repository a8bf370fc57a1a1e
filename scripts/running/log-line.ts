// A service's log line, for people: makes the logger's JSON readable, and leaves anything else unchanged.
import { oneLine } from "../../packages/common/src/foreign-text.ts"

/**
 * One line of a service's output, without its prefix.
 * @param isQuiet whether to omit successful requests, which would hide what matters: returns undefined for them
 */
export const readableLine = (line: string, isQuiet = false): string | undefined => {
  if (!line.startsWith("{")) return line
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line)
  } catch {
    return line
  }
  const { level, time, msg, service: _service, err, ...rest } = entry
  if (typeof level !== "string" || typeof msg !== "string") return line
  if (isQuiet && msg === "request" && Number(rest["status"]) < 400) return undefined
  const clock = typeof time === "string" ? time.slice(11, 19) : ""
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  )
  const message = typeof err === "object" && err !== null && "message" in err ? [`error=${String(err.message)}`] : []
  const parts = [clock, level.toUpperCase().padEnd(5), msg, ...fields, ...message].filter((part) => part !== "")
  // It may have names that others chose: none controls the terminal.
  return oneLine(parts.join(" "))
}
