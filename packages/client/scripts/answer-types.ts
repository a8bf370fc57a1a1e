import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: boolean | Schema
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly description?: string
}

type Operation = {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >
}

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The answers that the library names, by the operation that gives them. */
const named: readonly (readonly [name: string, about: string, method: string, path: string])[] = [
  ["SignUp", "A new agent. `api_key` is shown this once.", "post", "/api/agents/signup"],
  ["Profile", "The agent that the key belongs to.", "get", "/api/agents/me"],
  ["Keys", "An agent's keys, oldest first, never the keys themselves.", "get", "/api/agents/me/keys"],
  ["MintedKey", "A new key. `key` is shown this once.", "post", "/api/agents/me/keys"],
  [
    "RotatedKey",
    "The key that takes another's place. `key` is shown this once.",
    "post",
    "/api/agents/me/keys/{id}/rotate",
  ],
  ["RevokedKey", "A key that is refused from now on.", "delete", "/api/agents/me/keys/{id}"],
  ["MintedSession", "A session token; `expires_at` in Unix seconds.", "post", "/ws/sessions"],
  ["StackWithSchema", "A stack and its schema.", "get", "/api/registry/{name}/schema"],
  ["StackAst", "A stack's AST.", "get", "/api/registry/stacks/{stack}/ast"],
  ["StackVersions", "What a stack was, newest version first.", "get", "/api/registry/{name}/versions"],
  ["SpecSchema", "A spec's schema.", "get", "/api/specs/{id}/schema"],
  ["BuildWithEvents", "A build and what happened to it.", "get", "/api/builds/{id}"],
  ["RunWithSteps", "A workflow run and its steps.", "get", "/api/automation/runs/{id}"],
]

/** The bodies that the library sends, by the operation that takes them. */
const sent: typeof named = [
  ["NewAgent", "What a new agent may choose.", "post", "/api/agents/signup"],
  ["NewKey", "What a new key may have.", "post", "/api/agents/me/keys"],
  ["Rotation", "How to replace a key.", "post", "/api/agents/me/keys/{id}/rotate"],
  ["NewSession", "What a session token is for.", "post", "/ws/sessions"],
]

const comment = (text: string | undefined): string =>
  text === undefined ? "" : `/** ${text.replaceAll("*/", "* /")} */\n`

const property = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name))

const members = ({ properties = {}, required = [], additionalProperties }: Schema): string => {
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description)}readonly ${property(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`,
  )
  const rest =
    typeof additionalProperties === "object" ? [`readonly [name: string]: ${typeOf(additionalProperties)}`] : []
  const all = [...rows, ...rest]
  return all.length === 0 ? "Readonly<Record<string, unknown>>" : `{\n${all.join("\n")}\n}`
}

const single = (type: string, schema: Schema): string => {
  if (type === "object") return members(schema)
  if (type === "array") return `readonly (${typeOf(schema.items ?? {})})[]`
  return type === "integer" ? "number" : type
}

const typeOf = (schema: Schema): string => {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "unknown"
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(" & ")
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return either.map(typeOf).join(" | ")
  if (schema.type === undefined) return "unknown"
  return [schema.type]
    .flat()
    .map((type) => single(type, schema))
    .join(" | ")
}

const successOf = (operation: Operation | undefined): Schema | undefined =>
  ["200", "201", "202"]
    .map((status) => operation?.responses[status]?.content?.["application/json"]?.schema)
    .find((schema) => schema !== undefined)

/** The TypeScript of the platform's answers, as its committed OpenAPI document describes them. */
export const answerTypes = async (): Promise<string> => {
  const file = join(import.meta.dirname, "../../../apps/platform-api/openapi.json")
  const { paths, components: all }: Document = JSON.parse(await readFile(file, "utf8"))
  const types = named.flatMap(([name, about, method, path]) => {
    const schema = successOf(paths[path]?.[method])
    // A route that this platform does not have yet has no type.
    return schema === undefined ? [] : [`/** ${about} */\nexport type ${name} = ${typeOf(schema)}\n`]
  })
  const bodies = sent.map(([name, about, method, path]) => {
    const schema = paths[path]?.[method]?.requestBody?.content["application/json"]?.schema ?? {}
    return `/** ${about} */\nexport type ${name} = ${typeOf(schema)}\n`
  })
  // An error is a class of the library's own.
  const parts = Object.entries(all.schemas).flatMap(([name, schema]) =>
    name === "Error" ? [] : [`${comment(schema.description)}export type ${name} = ${typeOf(schema)}\n`],
  )
  return `// Made by \`pnpm openapi\` from the platform's OpenAPI document.\n\n${[...types, ...bodies, ...parts].join("\n")}`
}

/** Writes src/generated/answers.ts. */
export const writeAnswerTypes = async (): Promise<void> => {
  const file = join(import.meta.dirname, "../src/generated/answers.ts")
  await writeFile(file, await answerTypes())
  await promisify(execFile)(join(import.meta.dirname, "../../../node_modules/.bin/oxfmt"), [file])
}
