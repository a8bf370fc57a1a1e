import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { responseChecker } from "@svc/testing"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import docsDocument from "../apps/docs-server/openapi.json" with { type: "json" }
import { start as startDocs } from "../apps/docs-server/test/start.ts"
import platformDocument from "../apps/platform-api/openapi.json" with { type: "json" }
import { beforeTests, testService } from "../apps/platform-api/test/service.ts"
import { newPerson } from "../apps/platform-api/test/work/person.ts"
import relayDocument from "../apps/relay/openapi.json" with { type: "json" }
import { startRelay } from "../apps/relay/test/fixture.ts"

const schemaOf = z.looseObject({
  properties: z.record(z.string(), z.looseObject({})).default({}),
  required: z.array(z.string()).default([]),
  additionalProperties: z.unknown().optional(),
})
const operationOf = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).default([]),
  "x-access": z.object({ callers: z.array(z.string()) }),
  requestBody: z
    .object({
      required: z.boolean().default(false),
      content: z.record(z.string(), z.object({ schema: z.looseObject({}) })),
    })
    .optional(),
})
const documentOf = z.object({
  paths: z.record(z.string(), z.record(z.string(), operationOf)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()).default({}) }),
})

const platform = testService("postgres", { SVC_SAMPLE_STACKS: "true", SVC_REGISTRY_KEYED_REQUESTS_PER_MINUTE: "0" })
const agent = beforeTests(() => platform.signUp())
const person = beforeTests(() => newPerson(platform))
const docs = beforeTests(startDocs, ({ close }) => close())
const relay = beforeTests(
  () => startRelay("http://127.0.0.1:9", { env: { SVC_TRANSACTION_SEND_REQUESTS_PER_MINUTE: "6000" } }),
  ({ close }) => close(),
)
const services = [
  { service: "docs-server", at: docs, document: docsDocument, known: { slug: "limits", name: "svc" } },
  { service: "relay", at: relay, document: relayDocument, known: {} },
  { service: "platform-api", at: platform, document: platformDocument, known: { name: "transfers" } },
].map(({ service, at, document, known }) => {
  const parameters: Readonly<Record<string, string>> = known
  const { paths, components } = documentOf.parse(document)
  const checked = responseChecker(document)
  const operations = Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([name, about]) => ({
      what: `${name.toUpperCase()} ${template} of ${service}`,
      method: name.toUpperCase(),
      path: template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => parameters[parameter] ?? "999999"),
      pattern: new RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      about,
    })),
  )
  type Operation = (typeof operations)[number]
  const keyOf = ({ about }: Operation): string | undefined =>
    ({ agent: agent.key, person: person.key })[about["x-access"].callers[0] ?? ""]
  const send = async (to: Operation, method: string, type?: string, body?: string | Uint8Array<ArrayBuffer>) => {
    const key = keyOf(to)
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(type !== undefined && { "content-type": type }),
    }
    const response = await fetch(at.url + to.path, {
      method,
      headers,
      ...(body !== undefined && { body: new Blob([body]) }),
    })
    if (method === to.method) await checked(method, to.path, response)
    const text = await response.text()
    return { status: response.status, allow: response.headers.get("allow"), text }
  }
  const schemaIn = ({ about }: Operation) => {
    const { schema = {} } = Object.values(about.requestBody?.content ?? {})[0] ?? {}
    const name = /[^/]+$/.exec(String(schema["$ref"]))?.[0] ?? ""
    return schemaOf.parse("$ref" in schema ? components.schemas[name] : schema)
  }
  return { service, operations, send, schemaIn }
})
const all = services.flatMap(({ operations, ...rest }) =>
  operations.map((to) => ({ ...rest, to, what: to.what, operations })),
)
const withBody = all.filter(({ to }) => to.about.requestBody !== undefined)
const json = "application/json"
const pathIn = (text: string): unknown => {
  const { details } = JSON.parse(text) as { details?: { path?: unknown } }
  return details?.path
}

type Optional = { readonly path: string; readonly body: object; readonly member: unknown }

/** The optional members of a schema, at every depth, each with a body in which it is null. */
const optionalIn = (schema: unknown): Optional[] => {
  const { properties, required } = schemaOf.parse(schema)
  return Object.entries(properties).flatMap(([name, member]) => {
    const inside = optionalIn(member).map((one) => {
      const body = { [name]: one.body }
      return { path: `${name}.${one.path}`, body, member: one.member }
    })
    const own: Optional[] = required.includes(name) ? [] : [{ path: name, body: { [name]: null }, member }]
    return own.concat(inside)
  })
}

test("every service has routes with a body", () => {
  expect(services.map(({ service }) => [service, withBody.some((one) => one.service === service)])).toEqual([
    ["docs-server", true],
    ["relay", true],
    ["platform-api", true],
  ])
})

const lenient = new Set(["POST /api/agents/signup of platform-api", "POST /ws/sessions of platform-api"])

describe.each(withBody)("the body of $what", ({ to, send, schemaIn, service }) => {
  const post = (body: string | Uint8Array<ArrayBuffer>, type = json) => send(to, to.method, type, body)

  test("is JSON in each valid spelling of its Content-Type; any other is 415", async () => {
    const legal = [
      "",
      "; charset=utf-8",
      ' ;charset="UTF-8"',
      " ; Charset=utf8",
      ";",
      "; x",
      ";;",
      "; a=b; x",
      '; a="; charset=x"',
    ]
    for (const rest of legal) {
      // An array is no body of any route: the schema rejects it, so the type was accepted.
      const { status, text } = await post("[]", `Application/JSON${rest}`)
      expect([rest, status, text.includes("invalid")]).toEqual([rest, 400, true])
    }
    const illegal = [
      "text/plain",
      "application/jsonx",
      "application/json+x",
      "x; application/json",
      "application/json; charset=latin1",
    ]
    for (const type of [
      ...illegal,
      "application/json; charset=utf-8; charset=utf-16",
      "application/x-www-form-urlencoded",
    ])
      expect([type, (await post("[]", type)).status]).toEqual([type, 415])
  })

  test("is 400 unless it is JSON in UTF-8 without duplicate keys, and 413 if it is too large", async () => {
    for (const body of ["{", "{}x", "nothing", new Uint8Array([0x22, 0xff, 0x22]), '{"a":1,"a":2}', "[".repeat(4000)])
      expect([String(body), (await post(body)).status]).toEqual([String(body), 400])
    expect((await post("{}".padEnd(2 * 1024 * 1024 + 1))).status).toBe(413)
  })

  test("may be missing only where the document says so", async () => {
    const statuses = to.about.requestBody?.required === true ? [400, 415] : [200, 201, 202, 404]
    // What PowerShell, axios and `curl -d ''` send of a call without a body.
    for (const type of [undefined, json, "application/x-www-form-urlencoded", "text/plain"]) {
      expect(statuses).toContain((await send(to, to.method, type, type === undefined ? undefined : "")).status)
    }
  })

  test("has null where the document says so: in the platform, for all that is optional", async () => {
    const { required } = schemaIn(to)
    // JSON-RPC errors name no member.
    const optional = service === "docs-server" ? [] : optionalIn(schemaIn(to))
    const takesNull = ({ member }: { member: unknown }): boolean => JSON.stringify(member).includes('"null"')
    expect(service === "platform-api" ? optional.filter((one) => !takesNull(one)) : []).toEqual([])
    for (const one of optional) {
      const { status, text } = await post(JSON.stringify(one.body))
      const isWrong = status === 400 && (text.includes("must be") || required.length > 0)
      if (!takesNull(one)) expect([one.path, isWrong]).toEqual([one.path, true])
      else if (status >= 400 && pathIn(text) === one.path) expect(text).toContain("is missing")
    }
  })

  test("has unknown members only where they could restrict nothing", async () => {
    const { required, additionalProperties } = schemaIn(to)
    const isStrict = service === "platform-api" && !lenient.has(to.what)
    if (isStrict) expect(additionalProperties).toBe(false)
    if (service === "docs-server") return
    const { status, text } = await post('{"unknown":1}')
    if (additionalProperties !== false) expect(pathIn(status < 400 ? "{}" : text)).not.toBe("unknown")
    else expect([status, [...required, "unknown"].includes(String(pathIn(text)))]).toEqual([400, true])
  })
})

test("any other method is 405, and Allow lists the documented ones, for OPTIONS too", async () => {
  for (const { to, send, operations } of all) {
    const fitting = operations.filter(({ pattern }) => pattern.test(to.path))
    const known = new Set(fitting.map(({ method }) => method))
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((one) => !known.has(one))) {
      const { status, allow } = await send(to, method)
      expect([to.what, method, status]).toEqual([to.what, method, method === "OPTIONS" ? 204 : 405])
      expect(allow?.split(", ").toSorted()).toEqual(
        [...known, ...(known.has("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted(),
      )
    }
  }
})

// Browsers set these themselves; the last one is for `doctor` alone.
const notOfPages = new Set(["accept-encoding", "host", "origin", "sec-fetch-site", "upgrade", "x-svc-doctor"])
test.each([
  ["docs-server", docs, "/mcp"],
  ["relay", relay, "/transactions/v1/send"],
  ["platform-api", platform, "/api/registry"],
] as const)("a page of any origin may send each header that %s reads", async (name, { url }, path) => {
  const files = globSync(`apps/${name}/src/**/*.ts`, { cwd: join(import.meta.dirname, "..") })
  const read = files.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, "..", file), "utf8")
    return [...text.matchAll(/req\.header\("([\w-]+)"\)/g)].map(([, header = ""]) => header)
  })
  const { headers } = await fetch(url + path, { method: "OPTIONS" })
  const allowed = headers.get("access-control-allow-headers")?.toLowerCase().split(", ") ?? []
  expect(allowed).toContain("content-type")
  expect(read.filter((header) => !notOfPages.has(header) && !allowed.includes(header))).toEqual([])
})
