import type { ErrorCode } from "../errors.ts"

// Checked as written, because a URL parser accepts what no browser sends: spaces, backslashes, empty user names.
const shape = /^https?:\/\/[^/?#\\@*\s\p{Cc}]+\/?$/iu
const maxLength = 300

/** An origin as browsers send it (lower case, without default port), or the code of its fault. */
export const normaliseOrigin = (
  text: string,
): { readonly origin: string } | { readonly fault: Extract<ErrorCode, "origin-invalid-scheme" | "invalid-origin"> } => {
  if (!/^https?:\/\//i.test(text)) return { fault: "origin-invalid-scheme" }
  if (!shape.test(text) || text.length > maxLength) return { fault: "invalid-origin" }
  const url = URL.parse(text)
  // A wildcard can also be percent-encoded.
  if (url === null || url.hostname.includes("*")) return { fault: "invalid-origin" }
  return { origin: url.origin }
}
