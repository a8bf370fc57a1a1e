import { isLoopback } from "@svc/common/loopback"
import { CliError } from "../errors.ts"

/**
 * A service's URL in its canonical form: host in lower case, no default port, no slash at the end. Undefined unless it is an http
 * or https URL without user, query or fragment.
 */
export const normaliseUrl = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text)) return undefined
  return url.origin + url.pathname.replace(/\/+$/, "")
}

/** Whether a key may be sent to this URL: encrypted, or within this machine. */
export const isSafeForKeys = (url: string): boolean => {
  const { protocol, hostname } = new URL(url)
  return protocol === "https:" || isLoopback(hostname)
}

export const requireSafeForKeys = (url: string): void => {
  if (isSafeForKeys(url)) return
  throw new CliError("insecure-url", `svc sends a key only over https or to this machine, not to ${url}.`)
}
