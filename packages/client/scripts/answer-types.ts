import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

/** As much of JSON Schema as the services' documents use. */
export type Schema = {
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

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

/** A service's OpenAPI document, as `pnpm openapi` writes it. */
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

type Service = "platform-api" | "relay" | "docs-server"
type Named = readonly (readonly [name: string, about: string, method: string, path: string])[]

/** The responses that the library names, by the operation that gives them. */
const named: Readonly<Record<Service, Named>> = {
  "platform-api": [
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
    ["StackCheck", "What publishing an AST would change.", "post", "/api/registry/{name}/check"],
    ["RegistryChanges", "Changes of the registry, oldest first.", "get", "/api/registry/changes"],
    ["SpecSchema", "A spec's schema.", "get", "/api/specs/{id}/schema"],
    ["AddedVersion", "A spec's version after one was added.", "post", "/api/specs/{id}/versions"],
    ["BuildWithEvents", "A build and what happened to it.", "get", "/api/builds/{id}"],
    ["DeploymentAction", "What was begun with a deployment.", "post", "/api/deployments/{id}/rollback"],
    ["DeletedDeployment", "A deployment that is gone.", "delete", "/api/deployments/{id}"],
    ["RunWithSteps", "A workflow run and its steps.", "get", "/api/automation/runs/{id}"],
    ["PlatformHealth", "The state of the platform API.", "get", "/health"],
  ],
  relay: [["RelayHealth", "The state of the relay.", "get", "/health"]],
  "docs-server": [
    ["DocsHealth", "The state of the documentation server.", "get", "/health"],
    ["SkillIndex", "The skill files of the documentation server.", "get", "/.well-known/agent-skills/index.json"],
  ],
}

/** The bodies that the library and its users send, by the operation that takes them. */
const sent: Named = [
  ["NewAgent", "What a new agent may choose.", "post", "/api/agents/signup"],
  ["NewKey", "What a new key may have.", "post", "/api/agents/me/keys"],
  ["Rotation", "How to replace a key.", "post", "/api/agents/me/keys/{id}/rotate"],
  ["NewSession", "What a session token is for.", "post", "/ws/sessions"],
  ["NewSpec", "A new spec.", "post", "/api/specs"],
  ["SpecChanges", "What changes in a spec.", "put", "/api/specs/{id}"],
  ["NewVersion", "A new version of a spec.", "post", "/api/specs/{id}/versions"],
  ["NewRun", "A new workflow run.", "post", "/api/automation/runs"],
  ["Rollback", "The version to go back to.", "post", "/api/deployments/{id}/rollback"],
]

/** Schemas of the documentation server's tools. All schemas of the platform are taken, but none of the relay. */
const docsSchemas = ["SearchDocsArguments", "SearchDocsResult", "FetchPageArguments", "FetchPageResult"]

const comment = (text: string | undefined): string =>
  text === undefined ? "" : `/** ${text.replaceAll("*/", "* /")} */\n`

const property = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

/** @param unset what an optional member may be too */
const members = ({ properties = {}, required = [], additionalProperties }: Schema, unset: string): string => {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const [mark, type] = required.includes(name) ? ["", ""] : ["?", unset]
    return `${comment(schema.description)}readonly ${property(name)}${mark}: ${typeOf(schema, unset)}${type}`
  })
  const rest =
    typeof additionalProperties === "object" ? [`readonly [name: string]: ${typeOf(additionalProperties, unset)}`] : []
  const all = [...rows, ...rest]
  return all.length === 0 ? "Readonly<Record<string, unknown>>" : `{\n${all.join("\n")}\n}`
}

const single = (type: string, schema: Schema, unset: string): string => {
  if (type === "object") return members(schema, unset)
  if (type === "array") return `readonly (${typeOf(schema.items ?? {}, unset)})[]`
  return type === "integer" ? "number" : type
}

const typeOf = (schema: Schema, unset = ""): string => {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "unknown"
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.allOf !== undefined) return schema.allOf.map((part) => typeOf(part, unset)).join(" & ")
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return either.map((part) => typeOf(part, unset)).join(" | ")
  if (schema.type === undefined) return "unknown"
  return [schema.type]
    .flat()
    .map((type) => single(type, schema, unset))
    .join(" | ")
}

const successOf = (operation: Operation | undefined): Schema | undefined =>
  ["200", "201", "202"]
    .map((status) => operation?.responses[status]?.content?.["application/json"]?.schema)
    .find((schema) => schema !== undefined)

const documentOf = async (service: Service): Promise<OpenApi> =>
  JSON.parse(await readFile(join(import.meta.dirname, `../../../apps/${service}/openapi.json`), "utf8"))

/** A type with its comment, which may be missing. */
const typeNamed = (name: string, about: string | undefined, schema: Schema = {}, unset = ""): string =>
  `${comment(about)}export type ${name} = ${typeOf(schema, unset)}\n`

/** The responses of a service's document that have names. A schema of another document than the platform's has no type of its own. */
const responsesIn = ({ paths, components }: OpenApi, responses: Named): string[] =>
  responses.map(([name, about, method, path]) => {
    const schema = successOf(paths[path]?.[method])
    return typeNamed(name, about, components.schemas[schema?.$ref?.split("/").at(-1) ?? ""] ?? schema)
  })

const schemasIn = ({ components: { schemas } }: OpenApi, names: readonly string[]): string[] =>
  names.map((name) => typeNamed(name, schemas[name]?.description, schemas[name]))

/** The TypeScript of the services' responses, as their committed OpenAPI documents describe them. */
const answerTypes = async (): Promise<string> => {
  const [platform, relay, docs] = [
    await documentOf("platform-api"),
    await documentOf("relay"),
    await documentOf("docs-server"),
  ]
  const types = [
    ...responsesIn(platform, named["platform-api"]),
    ...sent.map(([name, about, method, path]) => {
      const body = platform.paths[path]?.[method]?.requestBody?.content["application/json"]
      // For callers whose compiler has exactOptionalPropertyTypes. JSON leaves out what is undefined.
      return typeNamed(name, about, body?.schema, " | undefined")
    }),
    // An error is a class of the library's own.
    ...schemasIn(
      platform,
      Object.keys(platform.components.schemas).filter((name) => name !== "Error"),
    ),
    ...responsesIn(relay, named.relay),
    ...responsesIn(docs, named["docs-server"]),
    ...schemasIn(docs, docsSchemas),
  ]
  return `// Made by \`pnpm openapi\` from the services' OpenAPI documents.\n\n${types.join("\n")}`
}

/** Writes src/generated/answers.ts. */
export const writeAnswerTypes = async (): Promise<void> => {
  const file = join(import.meta.dirname, "../src/generated/answers.ts")
  await writeFile(file, await answerTypes())
  await promisify(execFile)(join(import.meta.dirname, "../../../node_modules/.bin/oxfmt"), [file])
}
