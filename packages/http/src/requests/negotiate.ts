/**
 * The weights of an Accept or Accept-Encoding header (RFC 9110 section 12.4.2), by lower-case name. One that can't be
 * read counts as 0.
 */
export const acceptWeights = (header: string): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const entry of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim())
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "")
    const weight = q === undefined ? 1 : /^(?:0(?:\.\d*)?|1(?:\.0*)?|\.\d+)$/.test(q) ? Number(q) : 0
    if (name !== "") found.set(name, Math.max(weight, found.get(name) ?? 0))
  }
  return found
}

/**
 * A header's value, once where a client repeats it: some merge two spellings of a name, such as Claude Code those of
 * MCP-Protocol-Version. Different values stay as they are.
 */
export const withoutRepeats = (value: string): string => {
  const [first = "", ...others] = value.split(/\s*,\s*/)
  return others.every((other) => other === first) ? first : value
}

/** Whether a client takes gzip, by its Accept-Encoding (RFC 9110 section 12.5.3). */
export const acceptsGzip = (acceptEncoding: string | undefined): boolean => {
  if (acceptEncoding === undefined) return false
  // As most clients write it.
  if (acceptEncoding === "gzip" || acceptEncoding.startsWith("gzip,")) return true
  const weights = acceptWeights(acceptEncoding)
  return (weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0) > 0
}

/**
 * Whether If-None-Match names one of a resource's entity tags (RFC 9110 section 13.1.2: compared weakly), also with what Apache and
 * others append to the tag of what they compress.
 * @param tags quoted, without `W/`
 */
export const matchesETag = (ifNoneMatch: string | undefined, tags: readonly string[]): boolean =>
  ifNoneMatch?.split(",").some((sent) => {
    const tag = sent.trim().replace(/^W\//, "")
    return tag === "*" || tags.includes(tag) || tags.includes(tag.replace(/-(?:gzip|br|zstd)"$/, '"'))
  }) ?? false

/** Whether a GET asks for an event stream: named, wanted, and wanted more than JSON. Wildcards mean JSON. */
export const wantsEventStream = (accept: string | undefined): boolean => {
  if (accept === undefined || !/event-stream/i.test(accept)) return false
  const types = acceptWeights(accept)
  const stream = types.get("text/event-stream") ?? 0
  return stream > 0 && stream > (types.get("application/json") ?? 0)
}
