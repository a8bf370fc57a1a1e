/** Where in an AST: member names and array positions, from the outside in. */
export type AstPath = readonly (string | number)[]

/** An AST that can't be published: `path` names the faulty place (empty for the whole), `reason` says what is wrong with it. */
export class AstError extends Error {
  readonly segments: AstPath
  readonly path: string
  readonly reason: string

  constructor(segments: AstPath, reason: string) {
    const path = formatPath(segments)
    super(`${path === "" ? "the AST" : path}: ${reason}`)
    this.name = "AstError"
    this.segments = segments
    this.path = path
    this.reason = reason
  }
}

/** `entities[0].sections[2].name`; a member that is no plain name is quoted, and cut so that an error stays readable. */
export function formatPath(segments: AstPath): string {
  let path = ""
  for (const segment of segments) {
    if (typeof segment === "number") path += `[${segment}]`
    else if (!/^[A-Za-z_$][\w$]{0,63}$/.test(segment)) path += `[${JSON.stringify(segment.slice(0, 64))}]`
    else path += path === "" ? segment : `.${segment}`
  }
  return path
}
