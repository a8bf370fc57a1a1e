const most = 600

// Marks that turn the order of the text around them.
const directions = /[\u202A-\u202E\u2066-\u2069]/g

/** The beginning of a text that others wrote, so that it can't push the page away or turn it around. */
export const brief = (text: string, length = most): string =>
  (text.length <= length ? text : `${text.slice(0, length)}…`).replaceAll(directions, "\uFFFD")

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
/** A time of the API for a reader; an em dash for none. */
export const when = (time: string | null | undefined): string => (time == null ? "–" : local.format(new Date(time)))
