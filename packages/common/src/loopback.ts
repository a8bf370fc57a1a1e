const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i

/**
 * Whether a listener's address or a URL's host name is this machine: `localhost`, 127.0.0.0/8 and ::1. Not `*.localhost`:
 * only browsers resolve it locally, other programs may ask a name server.
 */
export const isLoopback = (host: string): boolean => loopback.test(host)

/** The host name in a URL, without the dot at its end that makes it absolute: the same name. Undefined: it isn't a URL. */
export const hostNameOf = (url: string): string | undefined => URL.parse(url)?.hostname.replace(/\.$/, "")

/**
 * Host names in URLs that mean the same local listener. Other addresses of 127.0.0.0/8 are local too, but may have their own
 * listeners.
 */
export const loopbackNames = ["localhost", "127.0.0.1", "[::1]"] as const
