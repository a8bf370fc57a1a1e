import { pipelineSteps } from "@svc/common/stack-views"

/** A public stack as the registry describes it. */
export type Stack = {
  readonly name: string
  readonly description?: string | null | undefined
  readonly websocket_url?: string | null | undefined
  readonly version?: number | undefined
  readonly relay?: boolean | undefined
  readonly deprecated?: { readonly message?: string | undefined; readonly successor?: string | undefined } | undefined
  readonly schema: {
    readonly entities: readonly StackEntity[]
    readonly types?: readonly StackType[] | undefined
  }
}

export type StackEntity = {
  readonly name: string
  readonly primary_keys: readonly string[]
  readonly fields: readonly { readonly path: string; readonly rust_type: string; readonly nullable: boolean }[]
  readonly views: readonly { readonly id: string; readonly mode: string; readonly pipeline: readonly unknown[] }[]
}

/** A change of the registry, as its feed has it. */
export type StackChange = {
  /** ISO 8601. */
  readonly at: string
  readonly stack: string
  readonly kind: string
  readonly version?: number | undefined
  readonly verdict?: string | undefined
}

type StackType = {
  readonly name: string
  readonly fields?: readonly { readonly name: string; readonly type: string }[] | undefined
  readonly variants?: readonly string[] | undefined
}

type Urls = { readonly baseUrl: string; readonly apiUrl: string }

// What an owner wrote is text: none of it may become markup or leave its line.
const text = (given: string): string =>
  given
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_{}[\]<>#|~!]/g, String.raw`\$&`)
const code = (given: string): string =>
  `\`${given
    .replaceAll(/\s+/g, " ")
    .replaceAll("`", "'")
    .replaceAll("|", String.raw`\|`)}\``

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const entityText = ({ name, primary_keys: keys, fields, views }: StackEntity): string =>
  [
    `## ${text(name)}`,
    `Primary ${keys.length === 1 ? "key" : "keys"}: ${keys.map(code).join(", ")}. Fields of ${code(name)}:`,
    table(
      ["Field", "Type", "May be null"],
      fields.map(({ path, rust_type: type, nullable }) => [code(path), code(type), nullable ? "yes" : "no"]),
    ),
    "Views:",
    table(
      ["View", "Mode", "Pipeline"],
      views.map(({ id, mode, pipeline }) => [
        code(id),
        text(mode),
        pipelineSteps(pipeline).map(code).join(", then ") || "none",
      ]),
    ),
  ].join("\n\n")

const typesText = (types: readonly StackType[]): string =>
  types.length === 0
    ? ""
    : `## Types\n\n${table(
        ["Type", "Members"],
        types.map(({ name, fields, variants = [] }) => [
          code(name),
          (fields?.map((field) => `${field.name}: ${field.type}`) ?? variants).map(code).join(", "),
        ]),
      )}`

const stackUrl = ({ apiUrl }: Urls, name: string): string => `${apiUrl}/api/registry/${encodeURIComponent(name)}`

// A question is answered by a guide where there is one.
const searchWeight = 0.7

const page = (title: string, description: string, parts: readonly string[]): string =>
  `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}\nsearch_weight: ${searchWeight}\n---\n\n# ${title}\n\n${parts.filter((part) => part !== "").join("\n\n")}\n`

const deprecation = ({ deprecated }: Stack, { baseUrl }: Urls): string => {
  if (deprecated === undefined) return ""
  const { message = "", successor } = deprecated
  const use =
    successor === undefined ? "" : ` Use [${text(successor)}](${baseUrl}/stacks/${encodeURIComponent(successor)}.md).`
  return `> [!WARNING] Deprecated\n> ${text(message)}${use}`
}

/** A stack's page: what it streams, entity by entity. */
export const stackMarkdown = (stack: Stack, urls: Urls): string => {
  const { name, description, websocket_url: url, version, relay, schema } = stack
  const api = stackUrl(urls, name)
  const { entities, types = [] } = schema
  const about = description ?? ""
  const names = entities.map((entity) => entity.name).join(", ")
  return page(name, `The stack ${name}${about === "" ? "" : `: ${about}`}. Entities: ${names}.`.slice(0, 300), [
    text(about),
    deprecation(stack, urls),
    [
      ...(typeof url === "string" ? [`- Stream: ${code(url)}`] : []),
      ...(version === undefined ? [] : [`- Version: ${version}`]),
      `- Transaction relay: ${relay === true ? "session tokens of this stack may use it" : "not for session tokens of this stack"}`,
      `- As JSON: [schema](${api}/schema), [AST](${urls.apiUrl}/api/registry/stacks/${encodeURIComponent(name)}/ast), [TypeScript types](${api}/types)`,
    ].join("\n"),
    `## Get the schema\n\n\`\`\`sh\ncurl ${api}/schema\n\`\`\`\n\n\`\`\`sh\nnpx ${urls.baseUrl}/cli/svc.tgz explore ${name} --json\n\`\`\``,
    ...entities.map(entityText),
    typesText(types),
  ])
}

const changesText = (changes: readonly StackChange[], { apiUrl, baseUrl }: Urls): string => {
  if (changes.length === 0) return ""
  const rows = changes.map(({ at, stack, kind, version, verdict }) => [
    `${at.slice(0, 16).replace("T", " ")} UTC`,
    code(stack),
    [kind, ...(version === undefined ? [] : [`version ${version}`]), ...(verdict === undefined ? [] : [verdict])]
      .map(text)
      .join(", "),
  ])
  const more = `[All changes](${apiUrl}/api/registry/changes); [Notifications](${baseUrl}/notifications.md) says how to follow them.`
  return `## Latest changes\n\n${table(["Time", "Stack", "Change"], rows)}\n\n${more}`
}

/**
 * The list of all public stacks.
 * @param changes the latest changes, newest first
 */
export const stacksMarkdown = (stacks: readonly Stack[], changes: readonly StackChange[], urls: Urls): string =>
  page("Stacks", "The public stacks of the registry: live Solana data, entity by entity.", [
    `${stacks.length === 1 ? "1 public stack" : `${stacks.length} public stacks`}. [All as JSON](${urls.apiUrl}/api/registry); [Registry](${urls.baseUrl}/registry.md) says how to read them from a program.`,
    stacks
      .map(({ name, description, schema, relay, deprecated }) => {
        const marks = [...(relay === true ? ["relay"] : []), ...(deprecated === undefined ? [] : ["deprecated"])]
        const names = schema.entities.map((entity) => code(entity.name)).join(", ")
        return `- [${name}](${urls.baseUrl}/stacks/${encodeURIComponent(name)}.md)${marks.length === 0 ? "" : ` (${marks.join(", ")})`}: ${text(description ?? "")}${names === "" ? "" : ` Entities: ${names}.`}`
      })
      .join("\n"),
    changesText(changes, urls),
  ])
