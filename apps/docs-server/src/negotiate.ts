/** The weights of an Accept-like header, by lower-case name; a weight that can't be read counts as 0. */
const weights = (header: string): Map<string, number> => {
  const found = new Map<string, number>()
  for (const entry of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim())
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "")
    const weight = q === undefined ? 1 : /^(?:0(?:\.\d*)?|1(?:\.0*)?|\.\d+)$/.test(q) ? Number(q) : 0
    if (name !== "") found.set(name, Math.max(weight, found.get(name) ?? 0))
  }
  return found
}

/** Whether a GET asks for the event stream: named, wanted, and wanted more than JSON. Wildcards mean the descriptor. */
export const wantsEventStream = (accept: string | undefined): boolean => {
  if (accept === undefined || !/event-stream/i.test(accept)) return false
  const types = weights(accept)
  const stream = types.get("text/event-stream") ?? 0
  return stream > 0 && stream > (types.get("application/json") ?? 0)
}

export const acceptsGzip = (acceptEncoding: string | undefined): boolean => {
  if (acceptEncoding === undefined) return false
  const codings = weights(acceptEncoding)
  return (codings.get("gzip") ?? codings.get("x-gzip") ?? codings.get("*") ?? 0) > 0
}

/** Whether If-None-Match names this content. Weak comparison: the encodings of a text share its hash. */
export const matchesEtag = (ifNoneMatch: string | undefined, hash: string): boolean =>
  ifNoneMatch !== undefined &&
  (ifNoneMatch.trim() === "*" || ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === `"${hash}"`))
