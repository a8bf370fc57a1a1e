// Tables that people write in pages, compared with the schemas and lists of the code that they describe.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { codeIn, type PageTable, readPageTables } from "@svc/testing"
import type { SubmitOnceOptions } from "@svc/client"
import { expect, test } from "vitest"
import { z } from "zod"
import platform from "../apps/platform-api/openapi.json" with { type: "json" }
import relay from "../apps/relay/openapi.json" with { type: "json" }
import released from "../scripts/released.json" with { type: "json" }
import { fieldsOf, type Schema } from "../apps/docs-server/scripts/reference/fields.ts"
import { lookupIn, openApiDocument } from "../apps/docs-server/scripts/reference/operation-page.ts"
import { tools } from "../apps/docs-server/src/mcp/tools.ts"
import { jobs, runTriggers, stepStatuses, verdicts, visibilities } from "../apps/platform-api/src/db/schema/index.ts"
import { errors as platformErrors } from "../apps/platform-api/src/errors.ts"
import { jobOutcomes, jobStates } from "../apps/platform-api/src/metrics.ts"
import { lifeCycles } from "../apps/platform-api/src/records/transitions.ts"
import { rustSpelling } from "../apps/platform-api/src/registry/ast/idl-type.ts"
import { type TypeNode, typeNode } from "../apps/platform-api/src/registry/types/type-node.ts"
import { runErrors, runStepNames } from "../apps/platform-api/src/work/events.ts"
import { hookBody } from "../apps/platform-api/src/work/steps/hook-call.ts"
import { errors as relayErrors } from "../apps/relay/src/errors.ts"
import { denialReasons, upstreamOutcomes } from "../apps/relay/src/metrics.ts"
import { clientMessage } from "../packages/local-stream/src/server/connection.ts"
import { skillNames } from "../apps/cli/src/docs/skills.ts"
import { languages } from "../apps/cli/src/usage/options.ts"
import { serviceUrl } from "../apps/cli/src/settings/settings.ts"
import { clientNames } from "../apps/cli/src/mcp/configurations.ts"
import { symbols } from "../apps/cli/src/stream/where.ts"
import { shells } from "../apps/cli/src/usage/completion.ts"
import { exits } from "../apps/cli/src/usage/help.ts"
import { operators as astOperators } from "../packages/common/src/ast-operators.ts"
import { operators } from "../packages/client/src/stream/where.ts"
import { limitsModes } from "../packages/limits/src/limits.ts"
import { primitives } from "../packages/local-stream/src/stack/codecs.ts"
import { faults } from "../packages/local-stream/src/server/faults.ts"
import { sessionClaims, sessionScopes } from "../packages/session-token/src/claims.ts"

const content = join(import.meta.dirname, "../apps/docs-server/content")
const tablesOf = (page: string) => readPageTables(readFileSync(join(content, page), "utf8"))

/** The table below a heading whose first column has a name. */
const tableOf = (page: string, heading: string, column: string): PageTable => {
  const found = tablesOf(page).find((table) => table.heading === heading && table.columns[0] === column)
  if (found === undefined) throw new Error(`${page} has no table "${column}" below "${heading}"`)
  return found
}
const firstCells = (table: PageTable): string[] => table.rows.flatMap(([cell = ""]) => codeIn(cell))

const services = { platform: openApiDocument.parse(platform), relay: openApiDocument.parse(relay) }
type Service = keyof typeof services

const membersOf = (service: Service, schema: Schema = {}): string[] =>
  fieldsOf(schema, lookupIn(services[service]), true)
    .map(({ name }) => name.replace(/^\[\]\./, ""))
    .filter((name) => !/[.[]/.test(name))
const schemaOf = (name: string): Schema => services.platform.components.schemas[name] ?? {}
const operationOf = (service: Service, operation: string) => {
  const [method = "", path = ""] = operation.split(" ")
  return services[service].paths[path]?.[method.toLowerCase()] ?? expect.fail(`no operation ${operation}`)
}
const request = (service: Service, operation: string): string[] =>
  membersOf(service, operationOf(service, operation).requestBody?.content["application/json"]?.schema)
const response = (operation: string): string[] => {
  const { responses } = operationOf("platform", operation)
  return membersOf("platform", (responses["200"] ?? responses["201"])?.content?.["application/json"]?.schema)
}
const query = (operation: string): string[] =>
  (operationOf("platform", operation).parameters ?? []).filter((one) => one.in === "query").map(({ name }) => name)
const shapeOf = (type: string): string[] =>
  clientMessage.options.filter((one) => one.shape.type.value === type).flatMap((one) => Object.keys(one.shape))
const relayPath = "POST /transactions/v1"
const keyUsage = schemaOf("Usage").properties?.["days"]?.items?.properties?.["keys"]
const change = schemaOf("RegistryChange")

const stacks = readdirSync(join(content, "../../platform-api/stacks")).flatMap((file) =>
  file.endsWith(".stack.json") ? [file.slice(0, -".stack.json".length)] : [],
)

// Types have no names at run time: an option that is missing here doesn't compile.
const submitOnceOptions: Record<Exclude<keyof SubmitOnceOptions, "lastValidBlockHeight">, true> = {
  purpose: true,
  commitment: true,
  signal: true,
  maxAttempts: true,
  skipPreflight: true,
  allowRelay: true,
  rebroadcastMs: true,
  preflightCommitment: true,
  onStep: true,
}

const compared: [page: string, heading: string, column: string, expected: readonly string[]][] = [
  [
    "../../../docs/operations.md",
    "Builds and runs of people's stacks",
    "Member of `data`",
    Object.keys(hookBody.shape.data.shape),
  ],
  ["agents.md", "Sign up", "Response field", response("POST /api/agents/signup")],
  ["agents.md", "Sign up", "Field", request("platform", "POST /api/agents/signup")],
  ["keys.md", "List keys", "Field", response("GET /api/agents/me/keys")],
  ["keys.md", "Rotate a key", "Field", request("platform", "POST /api/agents/me/keys/{id}/rotate")],
  ["keys.md", "Usage", "Field", membersOf("platform", keyUsage)],
  ["keys.md", "Mint another key", "Field", request("platform", "POST /api/agents/me/keys")],
  ["sessions.md", "Mint a token", "Request field", request("platform", "POST /ws/sessions")],
  ["sessions.md", "Mint a token", "Response field", response("POST /ws/sessions")],
  ["sessions.md", "Token format", "Claim", Object.keys(sessionClaims.shape)],
  ["registry.md", "List stacks", "Field", response("GET /api/registry").filter((name) => name !== "schema")],
  ["registry.md", "List stacks", "Query parameter", query("GET /api/registry")],
  ["notifications.md", "Get notified", "Query parameter", query("GET /api/registry/changes")],
  ["notifications.md", "Fields and kinds", "Field", membersOf("platform", change)],
  ["notifications.md", "Fields and kinds", "`kind`", (change.properties?.["kind"]?.enum ?? []).map(String)],
  ["relay.md", "latest-blockhash", "Field", request("relay", `${relayPath}/latest-blockhash`)],
  ["relay.md", "fee", "Field", request("relay", `${relayPath}/fee`)],
  ["relay.md", "simulate", "Field", request("relay", `${relayPath}/simulate`)],
  ["relay.md", "send", "Field", request("relay", `${relayPath}/send`)],
  ["relay.md", "signature-status", "Field", request("relay", `${relayPath}/signature-status`)],
  [
    "streams.md",
    "Messages from a client",
    "Field of `subscribe`",
    shapeOf("subscribe").filter((name) => !["type", "partition"].includes(name)),
  ],
  ["payments.md", "Results", "Option", Object.keys(submitOnceOptions)],
  ["publishing.md", "Publish", "Step of a run", runStepNames],
  ["local-development.md", "Local development", "Stack", stacks],
  ["mcp-server.md", "Tools", "Tool", tools.map(({ name }) => name)],
  ["command-line.md", "Exit codes", "Exit", exits.map(([code]) => code)],
]

test.each(compared)(
  "%s, %s: the table of each %s lists all of them, and no other",
  (page, heading, column, expected) => {
    expect(expected).not.toEqual([])
    expect(firstCells(tableOf(page, heading, column)).toSorted()).toEqual(expected.toSorted())
  },
)

test("each table of fields in a page is compared with the code", () => {
  const isOfFields = (column = ""): boolean =>
    /^(?:(?:Request |Response )?[Ff]ield\b|Query parameter|Claim|`kind`)/.test(column)
  const tables = readdirSync(content).flatMap((page) =>
    page.endsWith(".md") ? tablesOf(page).map(({ heading, columns: [column] }) => ({ page, heading, column })) : [],
  )
  const forgotten = tables.filter(
    ({ page, heading, column }) =>
      isOfFields(column) && !compared.some((one) => one[0] === page && one[1] === heading && one[2] === column),
  )
  expect(forgotten).toEqual([])
})

test("the skill lists every operator of an AST, with its spellings and kind", () => {
  const { rows } = tableOf("skills/svc-build/SKILL.md", "Operators", "Operator")
  const told = rows.map(([name = "", others = "", kind]) => codeIn(`${name} ${others}`).concat(kind ?? ""))
  const known = Object.entries(astOperators).flatMap(([kind, names]) =>
    Object.entries<readonly string[]>(names).map(([name, others]) => [name].concat(others, kind)),
  )
  expect(told).toEqual(known)
})

test("svc-consume has the TypeScript of each simple type that the local stream decodes", () => {
  const inTypeScript = (node: TypeNode): string => {
    if (node.kind !== "plain") return node.kind === "integer" ? "number" : node.kind === "digits" ? "string" : node.kind
    return { boolean: "boolean", float: "number", text: "string", unknown: "unknown" }[node.type]
  }
  const { rows } = tableOf("skills/svc-consume/SKILL.md", "1. Explore before you write code", "`rust_type`")
  const told = new Map(
    rows.flatMap(([types = "", written = ""]) => codeIn(types).map((type) => [type, codeIn(written)[0]] as const)),
  )
  const types = [...primitives.keys()].map((name) => rustSpelling(name))
  expect(types.map((type) => [type, told.get(type)])).toEqual(
    types.map((type) => [type, inTypeScript(typeNode(type, new Set()))]),
  )
})

test.each(["registry.md", "skills/svc-consume/SKILL.md"])("%s has all parts of a view's schema", (page) => {
  const fields = fieldsOf(schemaOf("StackSchema"), lookupIn(services.platform), false)
  const members = fields.flatMap(({ name }) => /^entities\[\]\.views\[\]\.(\w+)$/.exec(name)?.[1] ?? [])
  const told = tablesOf(page)
    .flatMap(firstCells)
    .flatMap((cell) => /^views\[\]\.(\w+)$/.exec(cell)?.[1] ?? [])
  expect(members).toContain("needs_key")
  expect(told.toSorted()).toEqual(members.toSorted())
})

test.each([
  ["deployment", lifeCycles.deployment.next],
  ["run", lifeCycles.run.next],
] as const)("records.md has the transitions of a %s", (kind, next: Readonly<Record<string, readonly string[]>>) => {
  const { rows } = tableOf("records.md", `States of a ${kind}`, "Status")
  const listed = rows.flatMap(([from = "", to = ""]) => codeIn(from).map((status) => [status, codeIn(to)]))
  expect(Object.fromEntries(listed)).toEqual(next)
})

test("svc installs every skill of the pages", () => {
  expect(readdirSync(join(content, "skills"))).toEqual([...skillNames].toSorted())
})

test("svc and the pages name each language of types", () => {
  const { parameters = [] } = operationOf("platform", "GET /api/registry/{name}/types")
  const language = parameters.find(({ name }) => name === "language")
  expect(languages).toEqual(language?.schema?.enum)
  for (const page of ["registry.md", "command-line.md"])
    expect(languages.filter((one) => !readFileSync(join(content, page), "utf8").includes(one))).toEqual([])
})

const unreadyCauses = (app: string): string[] =>
  [
    ...readFileSync(join(content, `../../${app}/openapi.json`), "utf8").matchAll(
      /"missing": \{[^}]*"enum": \[([^\]]*)/g,
    ),
  ].flatMap(([, causes = ""]) => causes.match(/[\w-]+/g) ?? [])

test.each([
  [
    "scopes",
    ["../../cli/src/usage/options.ts", "../../../packages/client/src/platform/session.ts", "sessions.md", "errors.md"],
    sessionScopes,
  ],
  ["visibilities", ["../../cli/src/usage/options.ts", "publishing.md"], visibilities],
  ["operators of a filter", ["client.md", "mcp-server.md"], operators],
  // One way of two to write equality is shown.
  [
    "operators of --where",
    ["command-line.md", "../../cli/src/commands/registry.ts"],
    symbols.filter((symbol) => symbol !== "=="),
  ],
  ["clients of svc mcp --config", ["command-line.md", "mcp-server.md"], clientNames],
  ["shells", ["command-line.md", "../../cli/README.md", "../../cli/src/commands/setup.ts"], shells],
  ["error codes of a run", ["publishing.md"], runErrors],
  ["statuses of a run's step", ["records.md"], stepStatuses],
  ["triggers of a run", ["records.md"], runTriggers],
  ["verdicts", ["notifications.md", "command-line.md"], verdicts],
  ["causes of an unready service", ["operations.md"], ["docs-server", "platform-api", "relay"].flatMap(unreadyCauses)],
] as const)("texts that list the %s have all of them", (_, files, values) => {
  expect(values).not.toEqual([])
  const missing = files.flatMap((file) => {
    const text = readFileSync(join(content, file), "utf8")
    const told = file.endsWith(".md") ? text.split("\n").flatMap(codeIn) : [text]
    const isTold = (value: string) =>
      told.some((one) => new RegExp(`(?<![\\w:])${RegExp.escape(value)}(?!\\w)`).test(one))
    return values.filter((value) => !isTold(value)).map((value) => `${file}: ${value}`)
  })
  expect(missing).toEqual([])
})

const operations = "../../../docs/operations.md"
test.each([
  [operations, "svc.platform.job.duration", "kind", jobs.kind.enumValues],
  [operations, "svc.platform.job.duration", "outcome", jobOutcomes],
  [operations, "svc.platform.jobs", "state", jobStates],
  ["operations.md", "svc.transaction.upstream.total", "outcome", Object.values(upstreamOutcomes)],
  ["operations.md", "svc.transaction.denials.total", "reason", Object.values(denialReasons)],
  ["operations.md", "svc.limits.mode", "mode", limitsModes],
] as const)("%s lists what the label of %s can be: %s", (page, metric, label, values) => {
  const text = readFileSync(join(content, page), "utf8")
  const [, told = ""] = new RegExp(`^\\| \`${metric}\`.*\\b${label}\`?: ([\\w, ]+)`, "m").exec(text) ?? []
  expect(told.trim().split(", ").toSorted()).toEqual([...new Set(values)].toSorted())
})

test("records.md has every status of a build", () => {
  expect(firstCells(tableOf("records.md", "States of a build", "Status"))).toEqual(lifeCycles.build.statuses)
})

test("streams.md lists each type of message that a client may send", () => {
  const messages = firstCells(tableOf("streams.md", "Messages from a client", "Message"))
  const types = messages.map((message) => /"type":"(\w+)"/.exec(message)?.[1])
  expect(types).toEqual(clientMessage.options.map(({ shape }) => shape.type.value))
})

test.each(tools.map(({ name, input }) => [name, input] as const))(
  "mcp-server.md lists each argument of %s, with its default and bounds",
  (name, inputSchema) => {
    const row = tableOf("mcp-server.md", "Tools", "Tool").rows.find(([cell]) => cell === `\`${name}\``)
    const [, cell = ""] = row ?? []
    expect(codeIn(cell)).toEqual(Object.keys(inputSchema.shape))
    const { properties = {} } = z.toJSONSchema(inputSchema, { io: "input" })
    const limit = properties["limit"]
    if (typeof limit === "object")
      expect(cell).toContain(`\`limit\` (${limit.minimum}–${limit.maximum}, default ${String(limit.default)})`)
  },
)

test("each table of codes in a page has existing codes with their statuses", () => {
  const statuses = new Map<string, Set<string>>()
  for (const rows of [platformErrors.rows, relayErrors.rows, faults])
    for (const [code, { status }] of Object.entries(rows))
      statuses.set(code, (statuses.get(code) ?? new Set()).add(String(status)))
  const pages = readdirSync(content).filter((file) => file.endsWith(".md") && file !== "errors.md")
  const told = pages.flatMap((file) =>
    tablesOf(file).flatMap(({ columns, rows }) => {
      const [code, status] = [columns.indexOf("Code"), columns.indexOf("Status")]
      if (code === -1 || status === -1) return []
      return rows.flatMap((row) =>
        codeIn(row[code] ?? "").map((one) => ({ file, code: one, status: row[status] ?? "" })),
      )
    }),
  )
  expect(told.length).toBeGreaterThan(30)
  expect(told.filter((one) => !one.status.split(", ").some((given) => statuses.get(one.code)?.has(given)))).toEqual([])
})

test("command-line.md has the settings of svc, whose default ports are the services'", async () => {
  const apps = [
    ["api", "platform-api"],
    ["docs", "docs-server"],
    ["relay", "relay"],
  ] as const
  const nothingSet = { options: {}, env: {}, folder: "/nowhere", copy: undefined }
  const expected = apps.map(async ([name, app]) => {
    const url = await serviceUrl(name, nothingSet)
    expect(new URL(url).port).toBe(released.settings[`${app} PORT`])
    return [`--${name}-url`, `SVC_${name.toUpperCase()}_URL`, `${name}_url`, url]
  })
  const { rows } = tableOf("command-line.md", "Settings, and where keys are kept", "Setting")
  const told = rows.map((row) => codeIn(row.slice(1).join(" ")))
  expect(told).toEqual([...(await Promise.all(expected)), ["SVC_API_KEY"]])
})
