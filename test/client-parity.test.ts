import { globSync, readFileSync } from "node:fs"
import * as client from "@svc/client"
import { createPlatform, createRelay, createRelayTransport, SvcError } from "@svc/client"
import { expect, test } from "vitest"
import { z } from "zod"
import platform from "../apps/platform-api/openapi.json" with { type: "json" }
import { serviceFailure } from "../apps/cli/src/errors.ts"
import { run } from "../apps/cli/src/run.ts"
import { errorEnvelope } from "../apps/relay/src/document.ts"
import { routes } from "../apps/relay/src/routes/table.ts"
import { testReceiver } from "./start-service.ts"

const relayUrl = "http://relay.test"
const nameOf = (path: string): string =>
  (path.split("/").at(-1) ?? "").replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A client of a relay that gives this response to everything, and the bodies that it was sent. */
const clientOf = (status: number, body: unknown) => {
  const sent: Record<string, unknown>[] = []
  const fetch: typeof globalThis.fetch = async (_, init) => {
    sent.push(z.record(z.string(), z.unknown()).parse(JSON.parse(z.string().parse(init?.body ?? "{}"))))
    // The seconds of a wait are read from the header, which has them too.
    return Response.json(body, { status, headers: { "retry-after": "1" } })
  }
  const relay = createRelay({ relayUrl, session: { token: async () => "t" }, fetch })
  return { relay, sent, fetch }
}

const call = async (relay: object, name: string, options: object): Promise<unknown> => {
  const method: unknown = Object.entries(relay).find(([own]) => own === name)?.[1]
  if (typeof method !== "function") throw new Error(`svc-client has no method ${name}`)
  return Reflect.apply(method, relay, [options])
}

const oneSignature = btoa(`\u0001${"\u0001".repeat(64)}message`)
// What a caller gives for each field of the relay's requests.
const given: Readonly<Record<string, unknown>> = {
  transaction: oneSignature,
  message: oneSignature,
  signature: "1".repeat(64),
  commitment: "finalized",
  preflightCommitment: "finalized",
  minContextSlot: 7n,
  sigVerify: true,
  replaceRecentBlockhash: true,
  innerInstructions: true,
  accounts: ["1".repeat(32)],
  skipPreflight: true,
  searchTransactionHistory: true,
}

test("svc-client has a method for each route of the relay, and no other", () => {
  const methods = Object.entries(clientOf(200, {}).relay).flatMap(([name, one]) =>
    typeof one === "function" ? [name] : [],
  )
  expect(methods.toSorted()).toEqual(routes.map(({ path }) => nameOf(path)).toSorted())
})

test.each(routes)("svc-client sends every field of $operation", async ({ path, request }) => {
  const fields = Object.keys(request.shape)
  expect(fields.filter((field) => !(field in given))).toEqual([])
  const { relay, sent } = clientOf(400, { code: "invalid_request", message: "No.", retryable: false, requestId: "r" })
  await call(relay, nameOf(path), given).catch(() => {})
  expect(Object.keys(sent[0] ?? {}).toSorted()).toEqual(fields.toSorted())
})

test("the pages and the README name each function of svc-client, and client.md each method of its platform", () => {
  const pages = ["client.md", "payments.md"].map((name) => `apps/docs-server/content/${name}`)
  const [page = "", payments = "", readme = ""] = [...pages, "packages/client/README.md"].map((file) =>
    readFileSync(`${import.meta.dirname}/../${file}`, "utf8"),
  )
  const isIn = (text: string) => (name: string) => new RegExp(`\\b${name}\\b`).test(text)
  const functions = Object.keys(client)
  const { keys, registry, ...others } = createPlatform({ apiUrl: relayUrl })
  const methods = [keys, registry, others].flatMap(Object.keys)
  expect(functions.filter((name) => !isIn(page + payments)(name) || !isIn(readme)(name))).toEqual([])
  expect(methods.filter((name) => !isIn(page)(name))).toEqual([])
})

test("kit's transport has each route's provider method, and no other", async () => {
  const { relay } = clientOf(200, {})
  const refused = createRelayTransport(relay)({ payload: { id: 1, method: "getNothing", params: [] } })
  const listed = await refused.then(String, (error: unknown) => /It has ([\w, ]+);/.exec(String(error))?.[1] ?? "")
  expect(listed.split(", ").toSorted()).toEqual(routes.map(({ method }) => method).toSorted())
})

test.each(routes)("kit's transport carries every field of $operation", async ({ path, method, request }) => {
  const fields = Object.keys(request.shape)
  const isFirst = (field: string): boolean => ["transaction", "message", "signature"].includes(field)
  const options = fields.filter((field) => !isFirst(field)).map((field) => [field, given[field]])
  const encoding = fields.includes("transaction") ? { encoding: "base64" } : {}
  const accounts = fields.includes("accounts") ? { accounts: { addresses: given["accounts"], encoding: "base64" } } : {}
  const first = fields.filter(isFirst).map((field) => (field === "signature" ? [given[field]] : given[field]))
  const params = [...first, { ...Object.fromEntries(options), ...encoding, ...accounts }]
  const { relay, sent } = clientOf(400, { code: "invalid_request", message: "No.", retryable: false, requestId: "r" })
  await createRelayTransport(relay)({ payload: { id: 1, method, params } }).catch(() => {})
  expect(Object.keys(sent[0] ?? {}).toSorted(), path).toEqual(fields.toSorted())
})

test("every header of ours that svc-client, svc and doctor read is one that a service sends", () => {
  const textOf = (patterns: string[]): string =>
    globSync(patterns, { cwd: `${import.meta.dirname}/..`, exclude: (name) => name.endsWith(".test.ts") })
      .map((file) => readFileSync(`${import.meta.dirname}/../${file}`, "utf8"))
      .join("\n")
  const readers = textOf(["packages/{client,program}/src/**/*.ts", "apps/cli/src/**/*.ts", "apps/*/src/**/doctor.ts"])
  const read = new Set(
    [...readers.matchAll(/header(?:\(|, )"(x-[\w-]+|deprecation|ratelimit[\w-]*)"/g)].map(([, name = ""]) => name),
  )
  expect(read.size).toBeGreaterThan(5)
  const sent = textOf(["apps/{docs-server,relay,platform-api}/src/**/*.ts", "packages/http/src/**/*.ts"])
    .replaceAll(/header\("[\w-]+"\)/g, "")
    .toLowerCase()
  expect([...read].filter((name) => !new RegExp(`\\b${name}"?[:,]`).test(sent))).toEqual([])
})

const { maxItems } =
  platform.paths["/api/agents/me/keys/publishable"].post.requestBody.content["application/json"].schema.properties
    .origin_allowlist
const origins = Array.from({ length: maxItems }, (_, index) => `https://app-${index}.example`)

test("svc-client and the command line accept as many origins for a publishable key as the API", async () => {
  const { url: apiUrl, received, answer } = await testReceiver()
  const type = { "content-type": "application/json" }
  answer((_, response) => response.writeHead(201, type).end('{"key":"svc_pk_a"}'))
  await createPlatform({ apiUrl }).keys.mintPublishable({ origin_allowlist: [origins[0] ?? ""] })
  const written: string[] = []
  const output = { isTTY: false, write: (text: string) => written.push(text) > 0 }
  const code = await run({
    argv: ["keys", "publishable", ...origins.flatMap((origin) => ["--origin", origin])],
    env: { SVC_API_URL: apiUrl, SVC_API_KEY: "svc_ak_a" },
    copy: undefined,
    home: "/nonexistent",
    stdout: output,
    stderr: output,
    readLine: async () => "",
    readInput: async () => new Uint8Array(),
    onInterrupt: () => () => {},
  })
  const sent = received.map(({ body }): unknown => JSON.parse(String(body)))
  expect([code, sent], written.join("")).toEqual([0, [{ origin_allowlist: origins }, { origin_allowlist: origins }]])
})

const errorsOf = {
  relay: Object.keys(errorEnvelope.shape),
  platform: Object.keys(platform.components.schemas.Error.properties),
}
// What the members of the services' errors are called in SvcError.
const ownNames: Readonly<Record<string, string>> = {
  error: "message",
  request_id: "requestId",
  retry_after_seconds: "retryAfterMs",
}

const errorFrom = async (service: string, status: number, response: object): Promise<SvcError> => {
  const { relay, fetch } = clientOf(status, response)
  const thrown = await (
    service === "relay" ? relay.latestBlockhash() : createPlatform({ apiUrl: relayUrl, fetch }).me()
  )
    .then(() => undefined)
    .catch((error: unknown) => error)
  if (thrown instanceof SvcError) return thrown
  throw new Error("no SvcError was thrown")
}

test.each(Object.entries(errorsOf))("SvcError has every member of an error of the %s", async (service, members) => {
  const other: Readonly<Record<string, unknown>> = {
    retryable: true,
    submissionState: "unknown",
    retry_after_seconds: 1,
  }
  const thrown = await errorFrom(service, 503, Object.fromEntries(members.map((name) => [name, other[name] ?? "text"])))
  const missing = members.filter((name) => Reflect.get(thrown, ownNames[name] ?? name) === undefined)
  expect(missing).toEqual([])
})

// Members that the command line doesn't print, and why.
const unprinted: Readonly<Record<string, string>> = {
  retryable: "the next step says whether to try again",
  submissionState: "the state of svc send says it",
  signature: "svc send prints it before it sends anything",
}

test.each(Object.entries(errorsOf))("svc prints every member of an error of the %s", async (service, members) => {
  const printed = members.filter((name) => unprinted[name] === undefined)
  const other: Readonly<Record<string, unknown>> = {
    details: { path: "of-details", reason: "" },
    retry_after_seconds: 1,
    retryable: true,
    submissionState: "unknown",
  }
  const response = Object.fromEntries(members.map((name) => [name, other[name] ?? `of-${name}`]))
  // The request's id is for failures of the service, and the wait replaces the hint.
  const failures = await Promise.all([400, 500, 503].map((status) => errorFrom(service, status, response)))
  const texts = failures.map((error) => {
    const { code, message, next, extra } = serviceFailure(error)
    return `${code} ${message} ${next} ${JSON.stringify(extra)}`
  })
  const shown = (name: string): string => (name === "retry_after_seconds" ? "Try again in 1 s" : `of-${name}`)
  expect(printed.filter((name) => !texts.join("\n").includes(shown(name)))).toEqual([])
})
