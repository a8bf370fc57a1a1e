import { normaliseWebsocketUrl } from "../registry/websocket-url.ts"

/** The part of URLs that is a spec's: the database checks the same. */
export const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}$/
/** What a stack may be called: `changes` is an endpoint of the registry. */
export const stackNamePattern = /^(?!changes$)[a-z0-9][a-z0-9-]{0,62}$/
/** What a spec may be called: its name becomes a stack's. Two dashes in a row part a branch from it. */
export const specNamePattern = /^(?!changes$)(?!.*--)[a-z0-9][a-z0-9-]{0,62}$/
export const branchPattern = /^[a-z0-9][a-z0-9-]{0,30}$/
const longestPair = 61

export const branchFits = (specName: string, branch: string): boolean => specName.length + branch.length <= longestPair

/** The registry's name of a spec's branch; production has the spec's own. */
export const stackNameOf = (specName: string, branch: string | null): string =>
  branch === null ? specName : `${specName}--${branch}`

/** Where a stack's stream is: production's may be the spec's own, a branch's is made from the template alone. */
export const streamUrlOf = (
  spec: { readonly name: string; readonly websocketUrl: string | null },
  branch: string | null,
  template: string | undefined,
): string | undefined => {
  if (branch === null && spec.websocketUrl !== null) return spec.websocketUrl
  return template === undefined
    ? undefined
    : normaliseWebsocketUrl(template.replaceAll("{slug}", stackNameOf(spec.name, branch)))
}
