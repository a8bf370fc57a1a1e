import { accessSchema } from "@svc/openapi"
import { z } from "zod"
import calls from "./calls.json" with { type: "json" }
import { type Lookup, type Schema, fieldsOf, meaningOf, schema, tableOf, typeOf } from "./fields.ts"

const content = z.record(z.string(), z.looseObject({ schema: schema.optional() }))
const parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: schema.optional(),
})
const operation = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()).default([]),
  "x-access": accessSchema,
  parameters: z.array(parameter).optional(),
  requestBody: z.looseObject({ required: z.boolean().optional(), content }).optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string(), content: content.optional() })),
})

/** An OpenAPI document as far as the reference reads it. */
export const openApiDocument = z.looseObject({
  info: z.looseObject({ title: z.string(), description: z.string().optional() }),
  tags: z.array(z.looseObject({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({ schemas: z.record(z.string(), schema) }),
})
export type OpenApi = z.output<typeof openApiDocument>

export type Service = {
  /** Its name in slugs and error anchors: `relay`. */
  readonly name: string
  /** The app's folder. */
  readonly app: string
  readonly title: string
  /** Its name in the navigation. */
  readonly short: string
  /** Its URL as the pages write it: `{relay_url}`. */
  readonly url: string
  /** Where its references stand in the navigation. */
  readonly order: number
}

export type Operation = {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly title: string
  readonly about: z.output<typeof operation>
}

/** A command with its answer, as the guides show it. */
export type Example = { readonly command: string; readonly answer: string }

const kebab = (id: string): string =>
  id
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase()

// A service's main operations come before those that describe it.
const lastTags = new Set(["discovery", "service"])
const placeOf = ({ about }: Operation, tags: OpenApi["tags"]): number => {
  const [tag = ""] = about.tags
  return lastTags.has(tag) ? tags.length : tags.findIndex(({ name }) => name === tag)
}

const groupNames: Readonly<Record<string, string>> = { mcp: "MCP" }
const nameOf = (tag: string): string => groupNames[tag] ?? `${tag.charAt(0).toUpperCase()}${tag.slice(1)}`
const groupOf = ({ about }: Operation): string => nameOf(about.tags[0] ?? "")

/** All operations of a document by their tags; where two have one summary, they are called by method and path. */
export const operationsOf = ({ paths, tags }: OpenApi): Operation[] => {
  const summaries = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ summary }) => summary))
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, about]) => {
      const method = name.toUpperCase()
      const isShared = summaries.indexOf(about.summary) !== summaries.lastIndexOf(about.summary)
      const title = isShared ? `${method} ${path}` : about.summary
      return { id: kebab(about.operationId), method, path, about, title }
    }),
  )
  return all.sort((a, b) => placeOf(a, tags) - placeOf(b, tags))
}

/** The schemas of a document by their `$ref`. */
export const lookupIn =
  ({ components }: OpenApi): Lookup =>
  (ref) => {
    const found = components.schemas[ref.split("/").at(-1) ?? ""]
    if (found === undefined) throw new Error(`${ref} is not in the document`)
    return found
  }

/** @param isSent whether callers send the fields: a reader of responses doesn't need to know which are required */
const fieldTable = (one: Schema, lookup: Lookup, isSent: boolean): string => {
  const rows = fieldsOf(one, lookup, isSent).map(({ name, type, required, meaning }) => [
    `\`${name}\``,
    type,
    isSent && required ? "yes" : "",
    meaning,
  ])
  return rows.length === 0 ? "" : tableOf(["Field", "Type", "Required", "Meaning"], rows)
}

const parameterTable = ({ about }: Operation, lookup: Lookup): string => {
  const inOrder = (about.parameters ?? []).toSorted((a, b) => Number(a.in === "header") - Number(b.in === "header"))
  const rows = inOrder.map((one) => [
    `\`${one.name}\``,
    one.in,
    typeOf(one.schema ?? {}, lookup),
    one.required === true ? "yes" : "",
    meaningOf({ ...one.schema, description: one.description }, true),
  ])
  return rows.length === 0 ? "" : `## Parameters\n\n${tableOf(["Name", "In", "Type", "Required", "Meaning"], rows)}\n`
}

const isSuccess = (status: string): boolean => status.startsWith("2") || status.startsWith("3")

const answers = ({ about }: Operation, lookup: Lookup): string =>
  Object.entries(about.responses)
    .filter(([status]) => isSuccess(status))
    .map(([status, { description, content: bodies = {} }]) => {
      const types = Object.keys(bodies)
      const [type = ""] = types
      const table = type.includes("json") ? fieldTable(bodies[type]?.schema ?? {}, lookup, false) : ""
      const isJson = types.every((one) => one.startsWith("application/json"))
      const kind = isJson ? "" : ` ${types.map((one) => `\`${one}\``).join(" or ")}.`
      return `\`${status}\`: ${description.replace(/\.?$/, ".")}${kind}\n${table === "" ? "" : `\n${table}\n`}`
    })
    .join("\n")

type Refusal = { readonly status: string; readonly code: string }

const refusalsOf = ({ about }: Operation): Refusal[] =>
  Object.entries(about.responses)
    .filter(([status]) => !isSuccess(status))
    .flatMap(([status, { description }]) =>
      [...description.matchAll(/^`([\w-]+)`/gm)].map(([, code = ""]) => ({ status, code })),
    )

/** The errors that all operations of a group can return: they are listed once, in the overview. A small group has none. */
const sharedRefusals = (group: readonly Operation[]): Refusal[] => {
  const [first, ...others] = group.map(refusalsOf)
  if (first === undefined || others.length < 2) return []
  return first.filter(({ status, code }) =>
    others.every((other) => other.some((one) => one.status === status && one.code === code)),
  )
}

/** The codes by status, each with a link to its row on the errors page. */
const errorTable = (refusals: readonly Refusal[], service: Service, explained: ReadonlySet<string>): string => {
  const linkOf = ({ code }: Refusal): string => {
    const anchor = `${service.name}-${code}`
    return explained.has(anchor) ? `[${code}]({base_url}/errors.md#${anchor})` : `\`${code}\``
  }
  const rows = [...Map.groupBy(refusals, ({ status }) => status)].map(([status, same]) => [
    status,
    same.map(linkOf).join(", "),
  ])
  return tableOf(["Status", "Codes"], rows)
}

const sharedHeading = (group: string): string => `Errors of all operations: ${group}`

/** The errors of an operation: those that it doesn't share with its group in `all`, and a link to the others. */
const errorsOf = (
  one: Operation,
  service: Service,
  all: readonly Operation[],
  explained: ReadonlySet<string>,
): string => {
  const shared = sharedRefusals(all.filter((other) => groupOf(other) === groupOf(one)))
  const isShared = (refusal: Refusal) =>
    shared.some(({ status, code }) => status === refusal.status && code === refusal.code)
  const own = refusalsOf(one).filter((refusal) => !isShared(refusal))
  if (own.length + shared.length === 0) return ""
  const anchor = kebab(sharedHeading(groupOf(one)).replaceAll(":", "").replaceAll(" ", "-"))
  const link = `{base_url}/reference/${service.name}.md#${anchor}`
  const more = `${own.length === 0 ? "" : "\n"}All operations of this group can also return [these errors](${link}).\n`
  const table = own.length === 0 ? "" : `${errorTable(own, service, explained)}\n`
  return `## Errors\n\n${table}${shared.length === 0 ? "" : more}`
}

const keys = "[Keys]({base_url}/keys.md)"
// By the callers of an operation. A missing row is an error.
const authentication: Readonly<Record<string, string>> = {
  anyone: "none.",
  "anyone agent person publishable": `optional, an API key: ${keys}.`,
  "agent person publishable": `an API key, of any kind: ${keys}.`,
  "agent person": `a secret key, of an agent or a person: ${keys}.`,
  agent: `an agent's secret key (\`svc_ak_…\`): ${keys}.`,
  person: `a person's secret key (\`svc_sk_…\`); agents get 403: ${keys}.`,
  session: "a session token with the scope",
  link: "the signature in the link.",
}

const accessOf = ({ about, title }: Operation): string => {
  const { callers, scope } = about["x-access"]
  const text = authentication[callers.join(" ")]
  if (text === undefined) throw new Error(`${title}: nothing says who ${callers.join(", ")} are`)
  const needed = scope === undefined ? text : `${text} \`${scope}\`: [Session tokens]({base_url}/sessions.md).`
  return `Authentication: ${needed}`
}

// The guides explain, the reference lists: a question is answered by a guide where there is one.
const searchWeight = 0.2

const frontMatter = (title: string, description: string, place: Readonly<Record<string, string | number>>): string =>
  `---\n${Object.entries({ title, description, ...place, search_weight: searchWeight })
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join("")}---\n`

/** What a reader may try out on the page: reading without a key, minting a session and simulating. Nothing that changes more. */
const trialOf = ({ id, method, about }: Operation, { name }: Service): Readonly<Record<string, string>> => {
  const types = Object.keys(about.responses["200"]?.content ?? {})
  const isRead = method === "GET" && about["x-access"].callers.includes("anyone") && name !== "docs"
  if (isRead && types.some((type) => type.startsWith("application/json"))) return { trial: "open" }
  const trials: Readonly<Record<string, string>> = { "platform/mint-session": "key", "relay/simulate": "token" }
  const trial = trials[`${name}/${id}`]
  return trial === undefined ? {} : { trial }
}

/** How svc-client and the command line make the same call, where they have it. */
type Calls = { readonly js?: string; readonly cli?: string }
const otherCalls: Readonly<Record<string, Calls>> = calls

const setUp = (js: string, { about }: Operation): string => {
  const { callers, scope = "" } = about["x-access"]
  const isRelay = js.includes("relay.")
  const key = callers.includes("anyone") ? "" : ", key: process.env.API_KEY"
  const platform = `const platform = createPlatform({ apiUrl: "{api_url}"${key} })`
  if (!isRelay) return `import { createPlatform } from "svc-client"\n${platform}`
  return `import { createPlatform, createRelay, createSession } from "svc-client"
${platform}
const session = createSession({ platform, websocketUrl: "{stream_url}/transfers", scope: "${scope}" })
const relay = createRelay({ relayUrl: "{relay_url}", session })`
}

/** The request as curl sends it, beside the same call of svc-client and of the command line. */
const requestOf = (command: string, one: Operation, { js, cli }: Calls): string => {
  if (js === undefined && cli === undefined) return `\`\`\`sh\n${command}\`\`\`\n`
  const blocks = [
    `\`\`\`sh [curl]\n${command}\`\`\``,
    ...(js === undefined ? [] : [`\`\`\`js [JavaScript]\n${setUp(js, one)}\n${js}\n\`\`\``]),
    ...(cli === undefined ? [] : [`\`\`\`sh [Command line]\n${cli}\n\`\`\``]),
  ]
  return `::: code-group\n\n${blocks.join("\n\n")}\n\n:::\n`
}

// At four characters a token, with room below the 1,500 that a test allows.
const maxLength = 1250 * 4

/** One operation's page, as Markdown. @param explained the anchors of the error codes that have a row on the errors page */
export const operationPage = (
  service: Service,
  document: OpenApi,
  all: readonly Operation[],
  one: Operation,
  order: number,
  examples: readonly Example[],
  explained: ReadonlySet<string>,
): string => {
  const { about, method, path, title } = one
  const lookup = lookupIn(document)
  const body = Object.entries(about.requestBody?.content ?? {})[0]?.[1].schema
  const bodyTable = body === undefined ? "" : fieldTable(body, lookup, true)
  const summary = about.summary.replace(/\.?$/, ".")
  const pageWith = (errors: string): string =>
    [
      frontMatter(
        title,
        `${method} ${path} of the ${service.title}: parameters, body, response and error codes. ${summary}`,
        { section: `Reference: ${service.short}`, order, group: groupOf(one), method, ...trialOf(one, service) },
      ),
      `# ${title}\n`,
      `\`${method} ${service.url}${path}\`\n`,
      ...(title === about.summary ? [] : [`${summary}\n`]),
      ...(about.description === undefined ? [] : [`${about.description}\n`]),
      `${accessOf(one)}\n`,
      parameterTable(one, lookup),
      bodyTable === "" ? "" : `## Request body\n\n${bodyTable}\n`,
      `## Response\n\n${answers(one, lookup)}`,
      examples.length === 0 ? "" : "## Example\n",
      ...examples.map(({ command, answer }, at) => {
        const others = at === examples.length - 1 ? otherCalls[`${service.name}/${one.id}`] : undefined
        return `${requestOf(command, one, others ?? {})}\n\`\`\`http\n${answer}\`\`\`\n`
      }),
      errors,
    ]
      .filter((part) => part !== "")
      .join("\n")
  const whole = pageWith(errorsOf(one, service, [], explained))
  return whole.length <= maxLength ? whole : pageWith(errorsOf(one, service, all, explained))
}

/** A service's overview: all its operations with their pages. */
export const overviewPage = (
  service: Service,
  document: OpenApi,
  all: readonly Operation[],
  explained: ReadonlySet<string>,
): string => {
  const { title, description = "" } = document.info
  const groups = [...Map.groupBy(all, ({ about }) => about.tags[0] ?? "")].flatMap(([tag, own]) => {
    const rows = own.map(({ method, path, about, id }) => [
      `\`${method} ${path}\``,
      `[${about.summary}]({base_url}/reference/${service.name}/${id}.md)`,
    ])
    const about = document.tags.find(({ name }) => name === tag)?.description ?? ""
    const heading = `## ${nameOf(tag)}\n\n${about.replace(/\.?$/, ".")}\n`
    const shared = sharedRefusals(own)
    const errors = `### ${sharedHeading(nameOf(tag))}\n\n${errorTable(shared, service, explained)}\n`
    const parts = [heading, `${tableOf(["Method and path", "What it does"], rows)}\n`]
    return shared.length === 0 ? parts : parts.concat(errors)
  })
  return [
    frontMatter(
      `${title}: reference`,
      `Every operation of the ${service.title} at a glance, each with a page of its parameters, fields, an example and error codes.`,
      { section: `Reference: ${service.short}`, order: service.order },
    ),
    `# ${title}: reference\n`,
    `At \`${service.url}\`; the same as one file: [openapi.json](${service.url}/openapi.json).\n`,
    `${description.trim()}\n`,
    ...groups,
  ].join("\n")
}

export const referencePage = (counts: ReadonlyMap<Service, number>): string => {
  const title = "API reference"
  const rows = [...counts].map(([service, operations]) => [
    `[${service.title}]({base_url}/reference/${service.name}.md)`,
    `\`${service.url}\``,
    `${operations}`,
    `[openapi.json](${service.url}/openapi.json)`,
  ])
  const about = "The operations of all services, each with a page of its own; search finds one by its method and path."
  return `${frontMatter(title, about, { section: "Reference", order: 99 })}
# ${title}

Each operation has a page with its parameters, fields, an example and its error codes. To find one, search for its method and
path, such as \`POST /ws/sessions\`.

${tableOf(["Service", "URL", "Operations", "As one file"], rows)}
`
}
