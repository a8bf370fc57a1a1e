const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i

/**
 * Whether a name is the machine's own: `localhost`, 127.0.0.0/8 and ::1, as a listener's address or a URL's host name. Of
 * `*.localhost` only browsers promise that it leads here; elsewhere a name server may be asked, so it is none.
 */
export const isLoopback = (host: string): boolean => loopback.test(host)

/**
 * The names in URLs under which this machine is one host: a listener of development has all three. Other addresses of
 * 127.0.0.0/8 never leave the machine either, but may have listeners of their own.
 */
export const loopbackNames = ["localhost", "127.0.0.1", "[::1]"] as const
