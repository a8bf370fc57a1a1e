// How a record's values are shown: as text alone, exactly, short enough for a table.
import { withoutUnseen } from "@svc/common/foreign-text"
import { isObject } from "@svc/common/json-object"

/** What a cell shows; `full` is the whole value where the text is a part of it. */
export type Shown = { readonly text: string; readonly full?: string; readonly time?: string }

/** A record's values by their paths, `id.signature`; arrays are values. */
export const leavesOf = (record: unknown): ReadonlyMap<string, unknown> => {
  const leaves = new Map<string, unknown>()
  const add = (value: unknown, path: string): void => {
    if (!isObject(value)) return void leaves.set(path, value)
    for (const [name, inner] of Object.entries(value)) add(inner, path === "" ? name : `${path}.${name}`)
  }
  add(record, "")
  return leaves
}

const integer = /^-?\d{1,40}$/
/** Exact text of a number or of a decimal string; undefined for all else. */
export const numberText = (value: unknown): string | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : undefined
  return typeof value === "string" && (integer.test(value) || /^-?\d{1,40}\.\d{1,40}$/.test(value)) ? value : undefined
}

const timePath = /(?:^|[._])(?:timestamp|time)$|_at$/
/** Milliseconds since 1970, of a field whose name says that it is a time: seconds or milliseconds. */
export const timeOf = (path: string, value: unknown): number | undefined => {
  const number = timePath.test(path) && integer.test(String(value)) ? Number(value) : 0
  const ms = number > 1e11 ? number : number * 1000
  return ms > 0 && ms < 8e15 ? ms : undefined
}

const solOf = (lamports: string): string => {
  const digits = lamports.replace("-", "").padStart(10, "0")
  const fraction = digits.slice(-9).replace(/0+$/, "")
  return `${lamports.startsWith("-") ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value == null ? "" : JSON.stringify(value)

/** Text of at most `most` characters, its beginning and its end. */
const shorten = (text: string, most: number): Shown => {
  const tail = Math.floor(most / 3)
  if (text.length <= most) return { text: withoutUnseen(text) }
  return { text: withoutUnseen(`${text.slice(0, most - tail - 1)}…${text.slice(-tail)}`), full: text }
}

const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** @param most characters of a value that has no better form */
export const show = (path: string, value: unknown, most: number): Shown => {
  const text = textOf(value)
  const ms = timeOf(path, value)
  if (ms !== undefined) {
    const date = new Date(ms)
    const isToday = date.toDateString() === new Date().toDateString()
    return { text: (isToday ? timeOfDay : dateAndTime).format(date), time: date.toISOString() }
  }
  if (path.endsWith("lamports") && integer.test(text)) return { text: `${text} (${solOf(text)}\u00A0SOL)` }
  return shorten(text, most)
}

/** A number of things: "1 change", "2,000 changes". */
export const counted = (count: number, thing: string): string =>
  `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`
