import { type Access, type createApi, documented, errorResponses, z, validate } from "@svc/openapi"
import { readJson } from "@svc/http"
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

const callersOf = (access: Endpoint["access"]): Access["callers"] => {
  if (typeof access !== "string") return [...access.callers]
  if (access === "signed link") return ["link"]
  return access === "anyone" ? ["anyone"] : ["anyone", "agent", "person", "publishable"]
}

/** Errors of reading a body. */
export const bodyCodes = ["invalid-json", "invalid-request", "payload-too-large", "unsupported-media-type"] as const
export const bodyLimit = 64 * 1024
// Far more than any endpoint takes. A validator reports each element that is not what it should be.
const bodyValues = 1000
/** What an empty body stands for: a body is required where its schema does not take this. */
const emptyBody = {}

/** Reads and checks a JSON body. Throws BodyError. */
export const jsonBody = async <T>(c: Context<AppEnv>, schema: z.ZodType<T>, limit = bodyLimit): Promise<T> => {
  await readJson(c, { limit, deadlineMs: 10_000, emptyAs: emptyBody, uniqueKeys: true, maxValues: bodyValues })
  return validate(schema, await c.req.json())
}

const json = (schema: z.ZodType) => ({ "application/json": { schema } })

const meanings: Readonly<Record<string, string>> = {
  id: "Its id",
  name: "The stack's name",
  stack: "The stack's name",
}

const parameters = (path: string) =>
  Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, z.string().meta({ description: meanings[name] })]),
  )

const responsesOf = ({ success, text, others = {} }: Endpoint, codes: readonly ErrorCode[]) => ({
  ...(success && { [success[0]]: { description: success[1], content: json(success[2]) } }),
  ...(text && {
    200: {
      description: text[0],
      content: {
        ...(success && json(success[2])),
        ...Object.fromEntries(
          text[1].map((type) => [type, { schema: type.endsWith("json") ? {} : { type: "string" as const } }]),
        ),
      },
    },
  }),
  ...errorResponses(errors, errorEnvelope, ...codes),
  ...Object.fromEntries(
    Object.entries(others).map(([status, [description, schema]]) => [
      status,
      { description, ...(schema && { content: json(schema) }) },
    ]),
  ),
})

/** Serves one endpoint and describes it, errors of its policy and of body reading included. */
export const endpoint = (api: Api, dependencies: Dependencies, spec: Endpoint): void => {
  const { method, path, access, query, largeBody, body = largeBody, handle } = spec
  const policy = typeof access === "string" ? undefined : access
  const codes: ErrorCode[] = [
    ...(policy
      ? [...keyCodes, "rate-limit-exceeded" as const, "service-unavailable" as const, ...refusalsOf(policy)]
      : []),
    ...(spec.body ? bodyCodes : []),
    ...spec.codes,
    "internal-error",
  ]
  const kind = {
    readsKey: access === "optional key",
    countsAloud: access === "optional key" || policy?.limit === "sessions",
    isTagged: spec.others?.[304] !== undefined,
    isPaged: query !== undefined && "offset" in query.shape,
    // Answers of these changes are kept under the Idempotency-Key.
    isKept: spec.tag === "records" && method === "post" && largeBody !== undefined,
    isOfStack: access === "optional key" && path.includes("{"),
  }
  const responses = Object.entries(responsesOf(spec, codes)).map(([status, response]) => [
    status,
    { ...response, headers: headersOf(Number(status), kind) },
  ])
  documented(
    api,
    {
      method,
      path,
      operationId: spec.id,
      summary: spec.summary,
      ...(spec.description === undefined ? {} : { description: spec.description }),
      tags: [spec.tag],
      security: policy ? [{ key: [] }] : access === "optional key" ? [{}, { key: [] }] : [],
      "x-access": { callers: callersOf(access) },
      request: {
        params: z.object(parameters(path)),
        query: query ?? z.object({}),
        headers: askedHeaders([
          ...(kind.isTagged ? (["If-None-Match"] as const) : []),
          ...(kind.isKept ? (["Idempotency-Key"] as const) : []),
          ...(spec.headers ?? []),
        ]),
        ...(body && { body: { required: !body.safeParse(emptyBody).success, content: json(body) } }),
      },
      responses: Object.fromEntries(responses),
    },
    policy === undefined ? handle : guarded(dependencies, policy, handle),
  )
}

/** Serves a path that the document leaves out. */
export const undocumented = (api: Api, method: "get" | "all", path: string, handler: Handler<AppEnv>): void => {
  api[method](path, handler)
}

/** The id in the path: a positive int4. Digits that can't be one name nothing; undefined stands for them. */
export const idOf = (c: Context<AppEnv>, malformed: ErrorCode): number | undefined => {
  const text = c.req.param("id") ?? ""
  if (!/^\d+$/.test(text)) throw errors.fail(malformed, { details: { path: "id", reason: "must be a number" } })
  const id = Number(text)
  return id >= 1 && id <= 2_147_483_647 ? id : undefined
}
