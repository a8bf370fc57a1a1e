// Every error that the tool tells ends with what to do: by the code's row, else by what the service itself advises.
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { SvcError } from "@svc/client/http"
import { commands } from "../src/commands.ts"
import { CliError, nextSteps, serviceFailure, usageError } from "../src/errors.ts"
import { faultOf, hints as toolHints } from "../src/mcp/result.ts"
import { reasonOf } from "../src/payments/journal.ts"
import { commonOptions } from "../src/usage/options.ts"

const apps = join(import.meta.dirname, "../..")
const services = ["docs-server", "relay", "platform-api"]

/** All values of members `code` that a document's schemas allow. */
const codesOf = (value: unknown): string[] => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const code = z.union([z.object({ enum: z.array(z.string()) }), z.object({ const: z.string() })]).safeParse(member)
    if (name !== "code" || !code.success) return codesOf(member)
    return "enum" in code.data ? code.data.enum : [code.data.const]
  })
}

const documentCodes = (service: string): string[] =>
  codesOf(JSON.parse(readFileSync(join(apps, service, "openapi.json"), "utf8")))

const hints = z.object({ errors: z.object({ rows: z.record(z.string(), z.object({ hint: z.string().optional() })) }) })

test.each(services)("every code in the OpenAPI document of %s has a next step", async (service) => {
  const table: unknown = await import(join(apps, service, "src/errors.ts"))
  const { rows } = hints.parse(table).errors
  const codes = new Set(documentCodes(service))
  expect(codes.size).toBeGreaterThan(5)
  const without = [...codes].filter((code) => {
    const hint = rows[code]?.hint
    return (new CliError(code, "", hint === undefined ? {} : { hint }).next ?? "") === ""
  })
  expect(without, `give it a row in apps/cli/src/errors.ts, or a hint in apps/${service}/src/errors.ts`).toEqual([])
})

test.each(services)(
  "no next step for an error of %s names a part of the response that svc doesn't show",
  async (service) => {
    const table: unknown = await import(join(apps, service, "src/errors.ts"))
    const steps = Object.entries(hints.parse(table).errors.rows).map(([code, { hint }]) => {
      const retryAfterMs = hint?.includes("Retry-After") === true ? 1000 : undefined
      return serviceFailure(new SvcError({ status: 429, code, message: "No.", hint, retryAfterMs })).next ?? ""
    })
    expect(steps.filter((step) => /details|retryable|Retry-After/.test(step))).toEqual([])
  },
)

test("next steps on a terminal about stacks, builds, deployments and runs are commands, not requests", async () => {
  const table: unknown = await import(join(apps, "platform-api/src/errors.ts"))
  const steps = Object.entries(hints.parse(table).errors.rows)
    .filter(([code]) => /-(?:not-found|state|taken|deployed|active)$/.test(code))
    .map(([code, { hint }]) => new CliError(code, "", hint === undefined ? {} : { hint }).next ?? "")
  expect(steps.length).toBeGreaterThan(10)
  expect(steps.filter((step) => /(?:GET|POST|PUT) \//.test(step))).toEqual([])
})

test("what a provider said is in the message: without it nobody knows what to correct", () => {
  const details = { code: -32011, message: "Transaction history is not available from this node" }
  const error = new SvcError({
    status: 502,
    code: "upstream_rpc_error",
    message: "The provider rejected the call.",
    details,
  })
  const said = "The provider rejected the call: Transaction history is not available from this node (-32011)"
  expect(serviceFailure(error).message).toBe(said)
  expect(reasonOf({ state: "not-submitted", error })).toBe(
    `${said} (upstream_rpc_error) ${nextSteps["upstream_rpc_error"]}`,
  )
})

test("every error of svc mcp has a next step for an agent without a shell, or says what to ask a person for", async () => {
  const tables = await Promise.all(services.map((service) => import(join(apps, service, "src/errors.ts"))))
  const rows = tables.flatMap((table: unknown) => Object.entries(hints.parse(table).errors.rows))
  const thrown = [
    ...rows.map(([code, { hint }]) => new SvcError({ status: 400, code, message: "No.", hint })),
    ...Object.keys(nextSteps).map((code) => new CliError(code, "No.")),
    new SvcError({ status: 0, code: "network-error", message: "No." }),
    new CliError("relay-not-available", "No.", { next: "Ask the operator whether the relay is enabled" }),
    new CliError("run-failed", "No.", { next: "Next: svc runs 5" }),
    new CliError("redirected", "No.", { next: "If that URL is right, set it with --api-url" }),
    usageError("No.", "send"),
    new Error("No."),
  ]
  const steps = thrown.map((error) => faultOf(error).hint)
  expect(steps.filter((step) => step === "")).toEqual([])
  const shell = /\bsvc [a-z]|--[a-z]|\b(?:GET|POST|PUT|DELETE) \/|[A-Z]_[A-Z]|Next:|(?:^|\s)\/[a-z]|\bthe operator\b/
  const unasked = steps.filter((step) => shell.test(step.replace(/[Aa]sk a person .*$/s, "")))
  expect(unasked).toEqual([])
  expect(steps.filter((step) => /: Ask\b|svc session --help/.test(step))).toEqual([])
  // A client's configuration may set the key, and then a stored one isn't used.
  expect(steps.filter((step) => /store .*auth login/.test(step) && !step.includes("SVC_API_KEY"))).toEqual([])
  // The tool looked for the name first, so another call has just taken it.
  const taken = new SvcError({ status: 409, code: "spec-name-taken", message: "No." })
  expect(faultOf(taken).hint).toContain("call publish_stack again")
  const strange = (retryable: boolean) =>
    faultOf(new SvcError({ status: 503, code: "unexpected-answer", message: "No.", retryable })).hint
  expect([true, false].map((retryable) => strange(retryable).startsWith("Call the tool again"))).toEqual([true, false])
})

test("every code that the tool, the library or a page knows is one that a service or the tool returns", () => {
  const sources = ["cli/src", "../packages/client/src", "../packages/site/browser"].flatMap((folder) =>
    globSync(join(apps, folder, "**/*.{ts,tsx}")).map((file) => readFileSync(file, "utf8")),
  )
  const own = sources.flatMap((source) =>
    [...source.matchAll(/(?:Error|refusal|asCode)\(\s*(?:\w+, )?"([\w-]+)"/g)].map(([, code = ""]) => code),
  )
  const stream = readFileSync(join(apps, "../packages/local-stream/src/server/faults.ts"), "utf8")
  const streams = [...stream.matchAll(/^ {2}"([a-z-]+)": \{/gm)].map(([, code = ""]) => code)
  // The last one is made of a kind and "-not-found".
  const known = new Set([...services.flatMap(documentCodes), ...own, ...streams, "entity-not-found"])
  const compared = sources.flatMap((source) =>
    [...source.matchAll(/(?:onCode\(\s*|(?<!typeof (?:\w+\.)?)\bcode [!=]== )"([a-z][\w-]+)"/g)].map(
      ([, code = ""]) => code,
    ),
  )
  expect(compared.length).toBeGreaterThan(20)
  const named = [...Object.keys(nextSteps), ...Object.keys(toolHints), ...compared]
  expect(named.filter((code) => !known.has(code))).toEqual([])
})

test("every next step names only existing commands, with the stack that they need, and every text an option of its command", () => {
  const named = Object.values(nextSteps).flatMap((step) =>
    [...step.matchAll(/\bsvc ((?:[a-z]+ ?)+)/g)].map(([, words = ""]) => words.trim()),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((words) => !commands.some(({ name }) => `${words} `.startsWith(`${name} `)))).toEqual([])
  const needsStack = /\bsvc (?:simulate|send|status|payments settle) [A-Z]/
  const steps = [...Object.values(nextSteps), ...Object.values(toolHints)].filter((step) => needsStack.test(step))
  expect(steps.length).toBeGreaterThan(2)
  expect(steps.filter((step) => !step.includes("--stack "))).toEqual([])
  const sources = ["cli/src", "../packages/site"].flatMap((folder) => globSync(join(apps, folder, "**/*.{ts,tsx}")))
  const texts = sources.flatMap(
    (file) => readFileSync(file, "utf8").match(/\bsvc [a-z]+ [^"`;.,()\n]*--[a-z-]+/g) ?? [],
  )
  expect(texts.length).toBeGreaterThan(20)
  const unknown = texts.filter((text) => {
    const { options = [] } = commands.find(({ name }) => `${text} `.startsWith(`svc ${name} `)) ?? {}
    const known = new Set<string>([...options, ...commonOptions, "version"])
    return [...text.matchAll(/--([a-z-]+)/g)].some(([, option = ""]) => !known.has(option))
  })
  expect(unknown).toEqual([])
})

test("what a rejected field must be is said once, also where the message says the beginning of it", () => {
  const message = "name must have 1 to 64 visible characters."
  const details = { path: "name", reason: "must have 1 to 64 visible characters, without control or direction marks" }
  const error = new SvcError({ status: 400, code: "invalid-key-name", message, details })
  expect(serviceFailure(error).message).toBe(`${details.path} ${details.reason}`)
})
