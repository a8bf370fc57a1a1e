import { type Access, type createApi, documented, errorResponses, z } from "@svc/openapi"
import { readJson, routed, validate } from "@svc/http"
import type { Context, Handler } from "hono"
import { type Policy, refusalsOf } from "../auth/agent-policy.ts"
import { keyCodes } from "../auth/authenticate.ts"
import { type AppEnv, guarded } from "../auth/guard.ts"
import { type ErrorCode, errorEnvelope, errors } from "../errors.ts"
import type { Dependencies } from "../dependencies.ts"
import { type AskedHeader, askedHeaders, headersOf } from "./headers.ts"

export type Api = ReturnType<typeof createApi<AppEnv>>

export type Endpoint = {
  readonly method: "get" | "post" | "put" | "delete"
  readonly path: string
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly tag: "service" | "registry" | "agents" | "keys" | "sessions" | "records"
  /**
   * Who may call it. For `anyone` and a `signed link` Authorization is never looked at; with an `optional key` anyone may,
   * and the handler itself looks whether a key came.
   */
  readonly access: "anyone" | "optional key" | "signed link" | Policy
  readonly query?: z.ZodObject
  /** Headers of the request that it looks at, besides those that all of its kind do. */
  readonly headers?: readonly AskedHeader[]
  readonly body?: z.ZodType
  /** A body that the handler reads itself, with errors of its own. */
  readonly largeBody?: z.ZodType
  readonly success?: readonly [status: number, description: string, schema: z.ZodType]
  /** In place of `success`, or besides it: a text in one of these media types. */
  readonly text?: readonly [description: string, mediaTypes: readonly string[]]
  /** Answers besides that are no errors of the table. */
  readonly others?: Readonly<Record<number, readonly [description: string, schema?: z.ZodType]>>
  readonly codes: readonly ErrorCode[]
  readonly handle: Handler<AppEnv>
}

/** Serves an endpoint. */
export type Serve = (endpoint: Endpoint) => void

const policyCodes = (policy: Policy): ErrorCode[] => [
  ...keyCodes,
  "rate-limit-exceeded",
  "service-unavailable",
  ...refusalsOf(policy),
]

const securityOf = (access: Endpoint["access"]) =>
  typeof access !== "string" ? [{ key: [] }] : access === "optional key" ? [{}, { key: [] }] : []

const callersOf = (access: Endpoint["access"]): Access["callers"] => {
  if (typeof access !== "string") return [...access.callers]
  if (access === "signed link") return ["link"]
  return access === "anyone" ? ["anyone"] : ["anyone", "agent", "person", "publishable"]
}

const bodyCodes = ["invalid-json", "invalid-request", "payload-too-large", "unsupported-media-type"] as const
const bodyLimit = 64 * 1024
const bodyMs = 10_000
// Far more than any endpoint takes. A validator reports each element that is not what it should be.
const bodyValues = 1000
/** What an empty body stands for: a body is required where its schema does not take this. */
const emptyBody = {}

/** Reads and checks a JSON body. Throws BodyError. */
export const jsonBody = async <T>(c: Context<AppEnv>, schema: z.ZodType<T>, limit = bodyLimit): Promise<T> =>
  validate(
    schema,
    await readJson(c, {
      limit,
      deadlineMs: bodyMs,
      emptyAs: emptyBody,
      uniqueKeys: true,
      maxValues: bodyValues,
    }),
  )

const describeBody = (schema: z.ZodType) => ({
  required: !schema.safeParse(emptyBody).success,
  content: { "application/json": { schema } },
})

const describeAnswer = ([description, schema]: readonly [string, z.ZodType?]) => ({
  description,
  ...(schema === undefined ? {} : { content: { "application/json": { schema } } }),
})

const describeText = ([description, mediaTypes]: readonly [string, readonly string[]], json?: z.ZodType) => ({
  description,
  content: {
    ...(json === undefined ? {} : { "application/json": { schema: json } }),
    ...Object.fromEntries(
      mediaTypes.map((type) => [type, { schema: type.endsWith("json") ? {} : { type: "string" as const } }]),
    ),
  },
})

const meanings: Readonly<Record<string, string>> = {
  id: "Its id",
  name: "The stack's name",
  stack: "The stack's name",
}

const parameters = (path: string) => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)
  return names.length === 0
    ? undefined
    : z.object(Object.fromEntries(names.map((name) => [name, z.string().meta({ description: meanings[name] })])))
}

/** Serves one endpoint and describes it, errors of its policy and of body reading included. */
export const endpoint = (api: Api, dependencies: Dependencies, spec: Endpoint): void => {
  const { access, query, body, success, handle } = spec
  const policy = typeof access === "string" ? undefined : access
  const codes: ErrorCode[] = [
    ...(policy === undefined ? [] : policyCodes(policy)),
    ...(body === undefined ? [] : bodyCodes),
    ...spec.codes,
    "internal-error",
  ]
  const params = parameters(spec.path)
  const responses: Readonly<Record<string, ReturnType<typeof describeAnswer> | ReturnType<typeof describeText>>> = {
    ...(success === undefined ? {} : { [success[0]]: describeAnswer([success[1], success[2]]) }),
    ...(spec.text === undefined ? {} : { 200: describeText(spec.text, success?.[2]) }),
    ...errorResponses(errors, errorEnvelope, ...codes),
    ...Object.fromEntries(Object.entries(spec.others ?? {}).map(([status, other]) => [status, describeAnswer(other)])),
  }
  const kind = {
    readsKey: access === "optional key",
    countsAloud: access === "optional key" || policy?.limit === "sessions",
    isTagged: spec.others?.[304] !== undefined,
    isPaged: query !== undefined && "offset" in query.shape,
    // Answers of these changes are kept under the Idempotency-Key.
    isKept: spec.method === "post" && spec.largeBody !== undefined,
    isOfStack: access === "optional key" && params !== undefined,
  }
  const headers = askedHeaders([
    ...(kind.isTagged ? (["If-None-Match"] as const) : []),
    ...(kind.isKept ? (["Idempotency-Key"] as const) : []),
    ...(spec.headers ?? []),
  ])
  documented(
    api,
    {
      method: spec.method,
      path: spec.path,
      operationId: spec.id,
      summary: spec.summary,
      ...(spec.description === undefined ? {} : { description: spec.description }),
      tags: [spec.tag],
      security: securityOf(access),
      "x-access": { callers: callersOf(access) },
      request: {
        ...(params === undefined ? {} : { params }),
        ...(query === undefined ? {} : { query }),
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { body: describeBody(body) }),
        ...(spec.largeBody === undefined ? {} : { body: describeBody(spec.largeBody) }),
      },
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [
          status,
          { ...response, headers: headersOf(Number(status), kind) },
        ]),
      ),
    },
    routed(policy === undefined ? handle : guarded(dependencies, policy, handle)),
  )
}

/** Serves a path that the document leaves out. */
export const undocumented = (api: Api, method: "get" | "all", path: string, handler: Handler<AppEnv>): void => {
  api[method](path, routed(handler))
}

/** The id in the path: a positive int4. Digits that can't be one name nothing; undefined stands for them. */
export const idOf = (c: Context<AppEnv>, malformed: ErrorCode): number | undefined => {
  const text = c.req.param("id") ?? ""
  if (!/^\d+$/.test(text)) throw errors.fail(malformed, { details: { path: "id", reason: "must be a number" } })
  const id = Number(text)
  return id >= 1 && id <= 2_147_483_647 ? id : undefined
}
