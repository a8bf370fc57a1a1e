/** A place in a JSON document: member names and array positions, outermost first. */
export type DocumentPath = readonly (string | number)[]

/** A rejected JSON file. `path` is the place of the fault (empty for the whole file), `reason` says what is wrong. */
export class DocumentFault extends Error {
  readonly segments: DocumentPath
  readonly path: string
  readonly reason: string

  constructor(segments: DocumentPath, reason: string) {
    const path = formatPath(segments)
    super(`${path === "" ? "the document" : path}: ${reason}`)
    this.segments = segments
    this.path = path
    this.reason = reason
  }
}

/** An AST that is valid, but too expensive to read or too large when processed. */
export class AstTooLarge extends DocumentFault {}

/** The maximum number of reported faults: searching for more costs more than it helps. */
export const maxFaults = 20

/** Formats a path as in `entities[0].sections[2].name`. Other member names are quoted and shortened. */
export const formatPath = (segments: DocumentPath): string => {
  let path = ""
  for (const segment of segments) {
    if (typeof segment === "number") path += `[${segment}]`
    else if (!/^[A-Za-z_$][\w$]{0,63}$/.test(segment)) path += `[${JSON.stringify(segment.slice(0, 64))}]`
    else path += path === "" ? segment : `.${segment}`
  }
  return path
}
