import { normaliseWebsocketUrl } from "../registry/websocket-url.ts"

/** A stack's name. `changes` is an endpoint of the registry. */
export const stackNamePattern = /^(?!changes$)[a-z0-9][a-z0-9-]{0,62}$/
/** A spec's name, which becomes a stack's. Two dashes separate a branch from it. */
export const specNamePattern = /^(?!changes$)(?!.*--)[a-z0-9][a-z0-9-]{0,62}$/
export const branchPattern = /^[a-z0-9][a-z0-9-]{0,30}$/
const longestPair = 61

export const branchFits = (specName: string, branch: string): boolean => specName.length + branch.length <= longestPair

/** The registry's name of a spec's branch. Production has the spec's own name. */
export const stackNameOf = (specName: string, branch: string | null): string =>
  branch === null ? specName : `${specName}--${branch}`

/** A stack's stream URL. Production can have the spec's own URL; a branch's comes from the template. */
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
