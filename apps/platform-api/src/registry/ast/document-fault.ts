/** Where in a JSON document: member names and array positions, from the outside in. */
export type DocumentPath = readonly (string | number)[]

/** A JSON file that can't be taken: `path` names the faulty place (empty for the whole), `reason` says what is wrong with it. */
export class DocumentFault extends Error {
  override readonly name = "DocumentFault"
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

/** An AST that is right but for what it would cost: the work of reading it, or the size of what is made of it. */
export class AstTooLarge extends DocumentFault {}

/** The most faults that anybody is told of one document: looking for more costs more than it helps. */
export const mostFaults = 20

/** `entities[0].sections[2].name`; a member that is no plain name is quoted, and cut so that an error stays readable. */
export const formatPath = (segments: DocumentPath): string => {
  let path = ""
  for (const segment of segments) {
    if (typeof segment === "number") path += `[${segment}]`
    else if (!/^[A-Za-z_$][\w$]{0,63}$/.test(segment)) path += `[${JSON.stringify(segment.slice(0, 64))}]`
    else path += path === "" ? segment : `.${segment}`
  }
  return path
}
