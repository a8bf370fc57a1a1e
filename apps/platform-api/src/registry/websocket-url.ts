const longest = 2048

/**
 * A stream's URL in the one spelling under which it is stored and compared: host in lower case, default port and one
 * trailing slash dropped. Undefined when it is no ws:// or wss:// URL, or carries a user or a fragment.
 */
export const normaliseWebsocketUrl = (text: string): string | undefined => {
  const url = text.length > longest ? null : URL.parse(text)
  if (url === null || !["ws:", "wss:"].includes(url.protocol)) return undefined
  if (url.username !== "" || url.password !== "" || url.href.includes("#")) return undefined
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, "")}${url.search}`
}
