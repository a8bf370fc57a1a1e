import { normaliseWebsocketUrl } from "../registry/websocket-url.ts"

/** A stack's name, which is its spec's. `changes` is an endpoint of the registry. */
export const stackNamePattern = /^(?!changes$)[a-z0-9][a-z0-9-]{0,62}$/

/** A stack's stream URL: its spec's, or one from the operator's template. Undefined if there is neither. */
export const streamUrlOf = (
  spec: { readonly name: string; readonly websocketUrl: string | null },
  template: string | undefined,
): string | undefined =>
  spec.websocketUrl ??
  (template === undefined ? undefined : normaliseWebsocketUrl(template.replaceAll("{slug}", spec.name)))
