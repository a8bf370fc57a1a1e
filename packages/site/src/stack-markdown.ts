import { oneLine } from "@svc/common/foreign-text"
import { pipelineSteps } from "@svc/common/stack-views"
import { z } from "zod"

const list = <T extends z.ZodType>(item: T) => z.array(item).max(5000)

const entitySchema = z.object({
  name: z.string(),
  primary_keys: list(z.string()),
  fields: list(z.object({ path: z.string(), rust_type: z.string(), nullable: z.boolean() })),
  views: list(
    z.object({
      id: z.string(),
      mode: z.string(),
      needs_key: z.boolean().optional(),
      key_field: z.string().nullish(),
      pipeline: z.array(z.unknown()),
    }),
  ),
})

const typeSchema = z.object({
  name: z.string(),
  fields: list(z.object({ name: z.string(), type: z.string() })).optional(),
  variants: list(z.string()).optional(),
})

/** A public stack as the registry describes it. */
export const stackSchema = z.object({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  description: z.string().nullish(),
  websocket_url: z.string().nullish(),
  version: z.int().optional(),
  relay: z.boolean().optional(),
  deprecated: z.object({ message: z.string().optional(), successor: z.string().optional() }).optional(),
  schema: z.object({ entities: list(entitySchema), types: list(typeSchema).optional() }),
})

/** A change of the registry, as its feed has it; `at` is ISO 8601. */
export const changeSchema = z.object({
  at: z.string(),
  stack: z.string(),
  kind: z.string(),
  version: z.int().optional(),
  verdict: z.string().optional(),
})

export type Stack = z.infer<typeof stackSchema>
export type StackEntity = z.infer<typeof entitySchema>
export type StackChange = z.infer<typeof changeSchema>
type StackList = {
  readonly stacks: readonly Stack[]
  readonly isWhole: boolean
  readonly changes: readonly StackChange[]
}

/** A time of ISO 8601 for readers: `2026-11-20 10:30 UTC`. */
export const minuteOf = (time: string): string => `${time.slice(0, 16).replace("T", " ")} UTC`

type Urls = { readonly baseUrl: string; readonly apiUrl: string }

// What an owner wrote is text: none of it may become markup, or a character that can't be seen, or leave its line.
const text = (given: string): string =>
  oneLine(given)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*_{}[\]<>#|~!]|&(?=#?\w+;)|^[-+=:]/g, String.raw`\$&`)
    .replace(/^(\d{1,9})([.)])/, String.raw`$1\$2`)
const code = (given: string): string =>
  `\`${oneLine(given)
    .replaceAll(/\s+/g, " ")
    .replaceAll("`", "'")
    .replaceAll("|", String.raw`\|`)}\``

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

/** The most characters of a stack's page; one that would be longer ends early, and says so. */
export const longestStackPage = 200_000

/** Writes one after the other until they fill a page. */
const fill = <T, W extends string | readonly string[]>(all: readonly T[], write: (one: T) => W): W[] => {
  const written: W[] = []
  let length = 0
  for (const one of all) {
    const next = write(one)
    written.push(next)
    length += String(next).length
    if (length >= longestStackPage) break
  }
  return written
}

const entityText = ({ name, primary_keys: keys, fields, views }: StackEntity): string =>
  [
    `## ${text(name)}`,
    `Primary ${keys.length === 1 ? "key" : "keys"}: ${keys.map(code).join(", ")}. Fields of ${code(name)}:`,
    table(
      ["Field", "Type", "May be null"],
      fill(fields, ({ path, rust_type: type, nullable }) => [code(path), code(type), nullable ? "yes" : "no"]),
    ),
    "Views:",
    table(
      ["View", "Mode", "Key", "Pipeline"],
      fill(views, ({ id, mode, needs_key, key_field, pipeline }) => [
        code(id),
        text(mode),
        `${typeof key_field === "string" ? code(key_field) : ""}${needs_key === true ? " (required)" : ""}`.trim(),
        pipelineSteps(pipeline).map(code).join(", then ") || "none",
      ]),
    ),
  ].join("\n\n")

const typesText = (types: readonly z.infer<typeof typeSchema>[]): string =>
  types.length === 0
    ? ""
    : `## Types\n\n${table(
        ["Type", "Members"],
        fill(types, ({ name, fields, variants = [] }) => [
          code(name),
          (fields?.map((field) => `${field.name}: ${field.type}`) ?? variants).map(code).join(", "),
        ]),
      )}`

const stackUrl = ({ apiUrl }: Urls, name: string): string => `${apiUrl}/api/registry/${encodeURIComponent(name)}`

// A question is answered by a guide where there is one.
const searchWeight = 0.7

/** @param wholeAt where everything is that the page may not have room for */
const page = (title: string, description: string, wholeAt: string, parts: readonly string[]): string => {
  const body = parts.filter((part) => part !== "").join("\n\n")
  const shown =
    body.length <= longestStackPage
      ? body
      : `${body.slice(0, body.lastIndexOf("\n", longestStackPage))}\n\n> The rest has no room here. Everything is at <${wholeAt}>.`
  return `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}\nsearch_weight: ${searchWeight}\n---\n\n# ${title}\n\n${shown}\n`
}

const deprecation = ({ deprecated }: Stack, { baseUrl }: Urls): string => {
  if (deprecated === undefined) return ""
  const { message = "", successor } = deprecated
  const use =
    successor === undefined ? "" : ` Use [${text(successor)}](${baseUrl}/stacks/${encodeURIComponent(successor)}.md).`
  const end = message === "" || /[.!?]$/.test(message) ? "" : "."
  return `> [!WARNING] Deprecated\n> ${text(message)}${end}${use}`
}

/** A stack's page: what it streams, entity by entity. */
export const stackMarkdown = (stack: Stack, urls: Urls): string => {
  const { name, description, websocket_url: url, version, relay, schema } = stack
  const api = stackUrl(urls, name)
  const { entities, types = [] } = schema
  const about = oneLine(description ?? "")
  const names = oneLine(entities.map((entity) => entity.name).join(", ")) || "see its schema"
  const whole = `The stack ${name}${about === "" ? "" : `: ${about}`}. Entities: ${names}.`
  return page(name, text(Array.from(whole).slice(0, 300).join("")), `${api}/schema`, [
    text(about),
    deprecation(stack, urls),
    [
      ...(typeof url === "string" ? [`- Stream: ${code(url)}`] : []),
      ...(version === undefined ? [] : [`- Version: ${version}`]),
      `- Transaction relay: ${relay === true ? "session tokens of this stack may use it" : "not for session tokens of this stack"}`,
      `- As JSON: [schema](${api}/schema), [AST](${urls.apiUrl}/api/registry/stacks/${encodeURIComponent(name)}/ast), [TypeScript types](${api}/types)`,
    ].join("\n"),
    `## Get the schema\n\n\`\`\`sh\ncurl ${api}/schema\n\`\`\`\n\n\`\`\`sh\nnpx -y ${urls.baseUrl}/cli/svc.tgz explore ${name} --json\n\`\`\``,
    entities.length === 0 ? "A page can't show this schema. Get it as above." : "",
    ...fill(entities, entityText),
    typesText(types),
  ])
}

const changeText = ({ kind, version, verdict }: StackChange): string => {
  const number = version === undefined ? "" : ` ${version}`
  const effect = verdict === "breaking" ? "; it breaks readers" : verdict === "compatible" ? "; readers go on" : ""
  switch (kind) {
    case "published":
      return `version${number} published${effect}`
    case "rolled-back":
      return `rolled back to version${number}${effect}`
    case "undeprecated":
      return "no longer deprecated"
    default:
      return text(kind)
  }
}

const changesText = (changes: readonly StackChange[], { apiUrl, baseUrl }: Urls): string => {
  if (changes.length === 0) return ""
  const rows = changes.map((change) => [text(minuteOf(change.at)), code(change.stack), changeText(change)])
  const more = `[All changes](${apiUrl}/api/registry/changes); [Notifications](${baseUrl}/notifications.md) says how to follow them.`
  return `## Latest changes\n\n${table(["Time", "Stack", "Change"], rows)}\n\n${more}`
}

const listText = (stacks: readonly Stack[], { baseUrl }: Urls): string =>
  table(
    ["Stack", "What it has", "Entities", "Version", "Relay", "Status"],
    fill(stacks, ({ name, description, version, relay, deprecated, schema }) => [
      `[${name}](${baseUrl}/stacks/${encodeURIComponent(name)}.md)`,
      text(description ?? ""),
      schema.entities.map((entity) => code(entity.name)).join(", "),
      String(version ?? ""),
      relay === true ? "yes" : "no",
      deprecated === undefined ? "active" : "deprecated",
    ]),
  )

/**
 * The list of public stacks.
 * @param registry the stacks that can be shown, whether those are all, and the latest changes, newest first
 */
export const stacksMarkdown = ({ stacks, isWhole, changes }: StackList, urls: Urls): string => {
  const url = `${urls.apiUrl}/api/registry`
  const all = stacks.length === 1 ? "1 public stack" : `${stacks.length} public stacks`
  const shown = isWhole ? all : `${stacks.length} of the public stacks`
  return page("Stacks", "The public stacks of the registry: live Solana data, entity by entity.", url, [
    `${shown}. [All as JSON](${url}); [Registry](${urls.baseUrl}/registry.md) says how to read them from a program.`,
    stacks.length === 0 ? "" : listText(stacks, urls),
    changesText(changes, urls),
  ])
}
