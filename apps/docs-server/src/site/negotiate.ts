import { acceptWeights } from "@svc/http"

/**
 * Whether a GET asks for a page as people read it: HTML is named, and wanted more than Markdown and plain text. Wildcards do
 * not count: that is what curl, fetch and MCP clients send.
 */
export const wantsHtml = (accept: string | undefined): boolean => {
  if (accept === undefined || !/html/i.test(accept)) return false
  const types = acceptWeights(accept)
  const weight = (...names: string[]) => Math.max(...names.map((name) => types.get(name) ?? 0))
  return weight("text/html", "application/xhtml+xml") > weight("text/markdown", "text/plain")
}
