import { isObject } from "@svc/common/json-object"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"

/** Throws unless the answer is one that the document describes for this operation; gives the answer back otherwise. */
export type ResponseChecker = (method: string, path: string, response: Response) => Promise<Response>

const member = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined)

const escapePointer = (text: string): string => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"))

/**
 * Checks answers against an OpenAPI 3.1 document: the path and method are described, so is the status (as itself or
 * `default`), the media type is one of it, and a JSON body fits its schema.
 */
export const responseChecker = (document: unknown): ResponseChecker => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: "doc", ...(isObject(document) ? document : {}) })
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
