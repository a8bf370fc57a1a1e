import { isObject, type JsonObject } from "@svc/common/json-object"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"

/** Throws unless the answer is one that the document describes for this operation; gives the answer back otherwise. */
export type ResponseChecker = (method: string, path: string, response: Response) => Promise<Response>

const member = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined)

const escapePointer = (text: string): string => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"))

const pointed = (document: JsonObject, ref: string): unknown =>
  ref
    .split("/")
    .slice(1)
    .reduce<unknown>((at, part) => member(at, part), document)

const namesMembers = (schema: unknown, document: JsonObject): boolean => {
  if (!isObject(schema)) return false
  const { $ref, properties, allOf, anyOf, oneOf } = schema
  if (typeof $ref === "string") return namesMembers(pointed(document, $ref), document)
  const parts = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return properties !== undefined || parts.some((part) => namesMembers(part, document))
}

/** Code generators take an integer without a format for one of 32 bits. */
const isShort = ({ type, format }: JsonObject): boolean => [type].flat().includes("integer") && format === undefined
const largestShort = 2 ** 31 - 1

/**
 * The document with every schema closed that names members: a member that it doesn't describe is a fault. Only a schema that
 * stands for a value on its own is closed, since the parts of an `allOf` know nothing of each other. A larger integer needs `int64`.
 */
const closed = (node: unknown, document: JsonObject, isValue = false): unknown => {
  if (Array.isArray(node)) return node.map((one) => closed(one, document))
  if (!isObject(node)) return node
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (key === "properties" && isObject(value)) {
        const named = Object.entries(value).map(([name, one]) => [name, closed(one, document, true)])
        return [key, Object.fromEntries(named)]
      }
      return [key, closed(value, document, ["schema", "items", "additionalProperties"].includes(key))]
    }),
  )
  if (isShort(node)) return { maximum: largestShort, ...copy }
  return isValue && namesMembers(node, document) ? { ...copy, unevaluatedProperties: false } : copy
}

/** Headers that mean something of a service's own, which its document has to describe. */
const ownHeader = /^(?:x-(?!content-type-options)|location$|link$|deprecation$|ratelimit|retry-after$)/

/**
 * Checks answers against an OpenAPI 3.1 document: the path and method are described, so is the status (as itself or
 * `default`), so are headers of the service's own, the media type is one of it, and a JSON body fits its schema and has no member
 * that it doesn't describe and no integer of more than 32 bits that isn't `int64`.
 */
export const responseChecker = (document: unknown): ResponseChecker => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  const whole = isObject(document) ? document : {}
  ajv.addSchema({ $id: "doc", ...Object(closed(whole, whole)) })
  const validators = new Map<string, ValidateFunction>()
  const templates = Object.keys(Object(member(document, "paths"))).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/[.+^$()|[\]\\]/g, "\\$&").replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  }))

  return async (method, path, response) => {
    const bare = path.replace(/[?#].*$/, "")
    // A path without parameters goes before one with: /keys/publishable is not /keys/{id}.
    const matches = templates.filter(({ pattern }) => pattern.test(bare))
    const fitting = matches.filter(({ template }) => isObject(member(member(document, "paths"), template)))
    const best = fitting.sort((a, b) => a.template.split("{").length - b.template.split("{").length)
    const template = best.find(({ template: name }) =>
      isObject(member(member(member(document, "paths"), name), method.toLowerCase())),
    )?.template
    const what = `${method} ${bare} ${response.status}`
    if (template === undefined) throw new Error(`${what}: the document has no such operation`)
    const operation = member(member(member(document, "paths"), template), method.toLowerCase())
    const responses = member(operation, "responses")
    const status = isObject(responses) && String(response.status) in responses ? String(response.status) : "default"
    const described = member(responses, status)
    if (described === undefined) throw new Error(`${what}: the document has no such status`)
    const named = new Set(Object.keys(Object(member(described, "headers"))).map((name) => name.toLowerCase()))
    const unnamed = [...response.headers.keys()].filter((name) => ownHeader.test(name) && !named.has(name))
    if (unnamed.length > 0) throw new Error(`${what}: the document has no header ${unnamed.join(", ")}`)
    const content = member(described, "content")
    const type = (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? ""
    const text = await response.clone().text()
    if (text === "") return response
    if (!isObject(content) || !(type in content)) throw new Error(`${what}: ${type} is not described`)
    if (!/[/+]json$/.test(type)) return response
    const pointer = ["paths", template, method.toLowerCase(), "responses", status, "content", type, "schema"]
    const reference = `doc#/${pointer.map(escapePointer).join("/")}`
    let validate = validators.get(reference)
    if (validate === undefined) validators.set(reference, (validate = ajv.compile({ $ref: reference })))
    if (!validate(JSON.parse(text))) throw new Error(`${what}: ${ajv.errorsText(validate.errors)}\n${text}`)
    return response
  }
}
