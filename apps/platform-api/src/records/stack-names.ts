import { StackConflict } from "../registry/publication.ts"
import { normaliseWebsocketUrl, spellingsOf } from "../registry/websocket-url.ts"

/** The form of a stack's name, which is its spec's. */
export const stackNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/

/** A name that no stack can have, because it is an endpoint of the registry. */
export const reservedName = "changes"

const mark = "0slug0"

/** The name whose URL this is by the operator's template; undefined if it is nobody's. */
const nameIn = (url: string, template: string): string | undefined => {
  const [pattern] = spellingsOf(normaliseWebsocketUrl(template.replaceAll("{slug}", mark)) ?? "ws://-")
  const [first = "", ...others] = pattern.split(mark).map((part) => RegExp.escape(part))
  const whole = new RegExp(`^${first}(?<name>[a-z0-9-]+)${others.join(String.raw`\k<name>`)}$`)
  return whole.exec(spellingsOf(url)[0])?.groups?.["name"]
}

/**
 * A stack's stream URL: its spec's, or one from the operator's template. Undefined if there is neither. Throws StackConflict if
 * by the template it belongs to another name, whether that has a stack or not.
 */
export const streamUrlOf = (
  { name, websocketUrl }: { readonly name: string; readonly websocketUrl: string | null },
  template: string | undefined,
): string | undefined => {
  if (template === undefined) return websocketUrl ?? undefined
  if (websocketUrl === null) return normaliseWebsocketUrl(template.replaceAll("{slug}", name))
  if ((nameIn(websocketUrl, template) ?? name) !== name) throw new StackConflict("websocket-url-taken")
  return websocketUrl
}
