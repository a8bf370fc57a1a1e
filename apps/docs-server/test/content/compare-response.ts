// Compares what a page promises with what a service answers.
import { isObject } from "@svc/common/json-object"

/** Values by the names that pages give them, `<API_KEY>`: the same name means the same value. */
export type Values = Map<string, string>

const placeholder = /^<([A-Z][A-Z0-9_]*)>$/
// Different with every run, yet of one kind: only the kind is compared.
const varying =
  /^(?:expires_at|last_used_at|request_id|requestId|score|total|tokens|contextSlot|lastValidBlockHeight|blockHeight|slot|confirmations|confirmationStatus)$/

const kindOf = (value: unknown): string => {
  if (typeof value !== "string") return value === null ? "null" : typeof value
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return "timestamp"
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(value)) return "UUID"
  if (/^\d+$/.test(value)) return "decimal string"
  return /^svc_[aps]k_….{4}$/.exec(value)?.[0].slice(0, 8) ?? "string"
}

const looseKinds = new Set(["timestamp", "UUID", "svc_ak_…", "svc_pk_…"])

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? "nothing"

/** What differs in a text that is no JSON: each stretch that is shown has to come, `…` stands for what is left out. */
const textDifferences = (promised: string, actual: string): string[] => {
  const stretches = promised.split("…").map((stretch) => stretch.trim())
  let at = 0
  for (const stretch of stretches) {
    const found = actual.indexOf(stretch, at)
    if (found === -1) return [`body: ${show(stretch)} is promised, there is ${show(actual.slice(at))}`]
    at = found + stretch.length
  }
  const opens = stretches[0] === "" || actual.startsWith(stretches[0] ?? "")
  const ends = stretches.at(-1) === "" || actual.trim().endsWith(stretches.at(-1) ?? "")
  return actual !== "" && opens && ends ? [] : [`body: more than is promised: ${show(actual)}`]
}

const bind = (name: string, actual: unknown, where: string, values: Values): string[] => {
  if ((typeof actual !== "string" || actual === "") && typeof actual !== "number") {
    return [`${where}: <${name}> stands for a text or a number, not ${show(actual)}`]
  }
  const known = values.get(name)
  if (known !== undefined && known !== String(actual)) return [`${where}: ${show(actual)} is not the earlier <${name}>`]
  values.set(name, String(actual))
  return []
}

/** What differs, as sentences; values of placeholders are remembered. `…` stands for what the page leaves out. */
export const differences = (promised: unknown, actual: unknown, values: Values, where = "body"): string[] => {
  const name = typeof promised === "string" ? placeholder.exec(promised)?.[1] : undefined
  if (name !== undefined) return bind(name, actual, where, values)
  if (Array.isArray(promised)) {
    if (!Array.isArray(actual)) return [`${where}: an array is promised, not ${show(actual)}`]
    const open = promised.at(-1) === "…"
    const shown = open ? promised.slice(0, -1) : promised
    const enough = open ? actual.length > shown.length : actual.length === shown.length
    if (!enough)
      return [`${where}: ${open ? "more than " : ""}${shown.length} elements are promised, there are ${actual.length}`]
    return shown.flatMap((element, index) => differences(element, actual[index], values, `${where}[${index}]`))
  }
  if (isObject(promised)) {
    if (!isObject(actual)) return [`${where}: an object is promised, not ${show(actual)}`]
    const { "…": open, ...shown } = promised
    const surplus = open === undefined ? Object.keys(actual).filter((key) => !Object.hasOwn(shown, key)) : []
    return [
      ...surplus.map((key) => `${where}.${key}: is there, the page does not show it`),
      ...Object.entries(shown).flatMap(([key, value]) => {
        if (!Object.hasOwn(actual, key)) return [`${where}.${key}: is promised and missing`]
        if (key === "last_used_at" && (value === null || actual[key] === null)) return []
        const loose = varying.test(key) || looseKinds.has(kindOf(value))
        if (!loose) return differences(value, actual[key], values, `${where}.${key}`)
        const [wanted, found] = [kindOf(value), kindOf(actual[key])]
        return wanted === found ? [] : [`${where}.${key}: a ${wanted} is promised, not ${show(actual[key])}`]
      }),
    ]
  }
  return promised === actual ? [] : [`${where}: ${show(promised)} is promised, not ${show(actual)}`]
}

/** The JSON of a page, in which a number may be a bare placeholder: `"id": <KEY_ID>`. */
export const shownJson = (text: string): unknown =>
  JSON.parse(text.replace(/([:[,]\s*)(<[A-Z][A-Z0-9_]*>)(?=\s*[,}\]])/g, '$1"$2"'))

/** An HTTP response as `curl -i` prints it, or as a page shows it. */
const partsOf = (response: string) => {
  const [head = "", ...rest] = response.replaceAll("\r", "").split("\n\n")
  const [status = "", ...lines] = head.trim().split("\n")
  const headers = lines.map((line): [string, string] => [line.replace(/:.*/, ""), line.replace(/^[^:]*: ?/, "")])
  return { status, headers: new Headers(headers), body: rest.join("\n\n").trim() }
}

const bodyDifferences = (promised: string, actual: string, isJson: boolean, values: Values): string[] => {
  if (promised === "") return actual === "" ? [] : ["body: none is promised"]
  if (!isJson) return textDifferences(promised, actual)
  try {
    return differences(shownJson(promised), JSON.parse(actual), values)
  } catch (error) {
    return [`body: ${String(error)}: ${actual.slice(0, 300)}`]
  }
}

/** Compares status line, the headers shown and the body of an `http` fence with what `curl -i` printed. */
export const httpDifferences = (promised: string, actual: string, values: Values): string[] => {
  const [shown, found] = [partsOf(promised), partsOf(actual)]
  // A page that shows no other type shows JSON.
  const isJson = (shown.headers.get("content-type") ?? "json").includes("json")
  return [
    ...(found.status === shown.status ? [] : [`${shown.status} is promised, not ${found.status}: ${found.body}`]),
    ...[...shown.headers].flatMap(([name, value]) =>
      differences(value, found.headers.get(name) ?? undefined, values, `header ${name}`),
    ),
    ...bodyDifferences(shown.body, found.body, isJson, values),
  ]
}
