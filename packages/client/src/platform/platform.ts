import type * as answers from "../generated/answers.ts"
import { type Clock, systemClock } from "../http/clock.ts"
import { baseUrl, errorOf, type Fetch, request } from "../http/http.ts"
import type { ConnectionState } from "../stream/connection-state.ts"

export type PlatformOptions = {
  /** The agent platform API, `https://api.example`. */
  readonly apiUrl: string
  /** A secret key, or in a web page a publishable key for its origin. It is sent to `apiUrl` only. */
  readonly key?: string | undefined
  /** Instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

/** A page of a list: `limit` is 1 to 100 (default 50), `offset` starts at 0. */
export type Page = { readonly limit?: number | undefined; readonly offset?: number | undefined }

const timeoutMs = 12_000

const pathPart = (value: string | number): string => {
  // Browsers and proxies resolve these in a path, even when encoded.
  if (value === "." || value === ".." || value === "") throw new TypeError(`${JSON.stringify(value)} names nothing`)
  return encodeURIComponent(value)
}

const queryOf = (values: object): string => {
  // JSON drops what is undefined.
  const given = JSON.parse(JSON.stringify(values)) as Record<string, string>
  const query = new URLSearchParams(given).toString()
  return query && `?${query}`
}

/** Makes what sends one request to the platform. */
const askerOf =
  (base: string, key: string | undefined, fetch: Fetch | undefined, clock: Clock) =>
  async <Answer>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    { query = {}, body }: { readonly query?: object; readonly body?: unknown } = {},
  ): Promise<Answer> => {
    const url = `${base}${path}${queryOf(query)}`
    const answer = await request(fetch, clock, { url, method, bearer: key, body, timeoutMs })
    if (answer.status < 200 || answer.status >= 300 || answer.body === undefined) throw errorOf(answer)
    // The platform's tests check its responses against the document that these types are generated from.
    return answer.body as Answer
  }

type Ask = ReturnType<typeof askerOf>

const keysOf = (ask: Ask) => {
  const path = "/api/agents/me/keys"
  return {
    /** The agent's keys, oldest first, without the secrets. */
    list: (page: Page = {}) => ask<answers.Keys>("GET", path, { query: page }),
    /** Creates another secret key. `key` is shown only once. */
    mint: (key: answers.NewKey = {}) => ask<answers.MintedKey>("POST", path, { body: key }),
    /** Creates a key for web pages of one origin, such as `https://app.example`. It is shown only once. */
    mintPublishable: (key: answers.NewKey & { readonly origin_allowlist: readonly [string] }) =>
      ask<answers.MintedKey>("POST", `${path}/publishable`, { body: key }),
    /** Replaces a key. The old one expires after an overlap. */
    rotate: (id: number, rotation: answers.Rotation = {}) =>
      ask<answers.RotatedKey>("POST", `${path}/${pathPart(id)}/rotate`, { body: rotation }),
    /** Disables a key, from the next request on, until it is enabled. */
    disable: (id: number) => ask<answers.Keys[number]>("POST", `${path}/${pathPart(id)}/disable`),
    /** Enables a key that its owner disabled. */
    enable: (id: number) => ask<answers.Keys[number]>("POST", `${path}/${pathPart(id)}/enable`),
    /** Revokes a key for good, from the next request on. */
    revoke: (id: number) => ask<answers.RevokedKey>("DELETE", `${path}/${pathPart(id)}`),
  }
}

/** Which changes of the registry to follow. */
export type FollowOptions = {
  /** The id of the last change that you know; default: only new changes. */
  readonly after?: number | undefined
  /** Only changes of this stack. */
  readonly stack?: string | undefined
  /** Called with the state of the connection, at first and whenever it changes. */
  readonly onState?: ((state: ConnectionState) => void) | undefined
  /** Ends the loop. */
  readonly signal?: AbortSignal | undefined
}

const registryOf = (ask: Ask, changes: (options?: FollowOptions) => AsyncGenerator<answers.RegistryChange, void>) => {
  const stack = (name: string, rest = "") => `/api/registry/${pathPart(name)}${rest}`
  return {
    /**
     * Public stacks by name, and with a valid key also `global` ones. `include: "schema"` adds each schema. If schemas are large,
     * a page is shorter: to continue, raise `offset` by the number of stacks received, until none come.
     */
    list: (options: Page & { readonly q?: string | undefined; readonly include?: "schema" | undefined } = {}) =>
      ask<readonly answers.Stack[]>("GET", "/api/registry", { query: options }),
    get: (name: string) => ask<answers.Stack>("GET", stack(name)),
    /** Entities, fields, types and views. */
    schema: (name: string, options: { readonly version?: number | undefined } = {}) =>
      ask<answers.StackWithSchema>("GET", stack(name, "/schema"), { query: options }),
    ast: (name: string, options: { readonly version?: number | undefined } = {}) =>
      ask<answers.StackAst>("GET", `/api/registry/stacks/${pathPart(name)}/ast`, { query: options }),
    /** All published versions, newest first. */
    versions: (name: string, page: Page = {}) =>
      ask<answers.StackVersions>("GET", stack(name, "/versions"), { query: page }),
    /** What changed between two versions for readers; default: the latest two. */
    diff: (name: string, options: { readonly from?: number | undefined; readonly to?: number | undefined } = {}) =>
      ask<answers.Diff>("GET", stack(name, "/diff"), { query: options }),
    /**
     * Every change of the registry as it happens, in order and without gaps, across lost connections. Use `for await`;
     * `signal` or leaving the loop ends it. Throws SvcError if a retry can't help.
     */
    changes,
  }
}

/** A list of records, and one of them. */
const recordsAt = <Listed, Single>(ask: Ask, path: string) => ({
  list: (page: Page = {}) => ask<readonly Listed[]>("GET", path, { query: page }),
  get: (id: number) => ask<Single>("GET", `${path}/${pathPart(id)}`),
})

const recordsOf = (ask: Ask) => ({
  specs: {
    ...recordsAt<answers.Spec, answers.Spec>(ask, "/api/specs"),
    schema: (id: number) => ask<answers.SpecSchema>("GET", `/api/specs/${pathPart(id)}/schema`),
    versions: (id: number, page: Page = {}) =>
      ask<readonly answers.SpecVersion[]>("GET", `/api/specs/${pathPart(id)}/versions`, { query: page }),
  },
  builds: recordsAt<answers.Build, answers.BuildWithEvents>(ask, "/api/builds"),
  deployments: {
    ...recordsAt<answers.Deployment, answers.Deployment>(ask, "/api/deployments"),
    events: (id: number, page: Page = {}) =>
      ask<readonly answers.DeploymentEvent[]>("GET", `/api/deployments/${pathPart(id)}/events`, { query: page }),
  },
  runs: recordsAt<answers.Run, answers.RunWithSteps>(ask, "/api/automation/runs"),
})

/**
 * The agent platform API: sign-up, keys, the registry, an agent's records, session tokens. Responses keep the API's
 * snake_case; times are RFC 3339 in UTC. Every call ends within 12 seconds, and throws SvcError.
 *
 * @throws TypeError unless `apiUrl` is an http or https URL.
 * @example
 * const platform = createPlatform({ apiUrl: "https://api.example", key: process.env.SVC_API_KEY })
 * const { schema } = await platform.registry.schema("transfers")
 */
export const createPlatform = ({ apiUrl, key, fetch, clock = systemClock }: PlatformOptions) => {
  const base = baseUrl(apiUrl, "apiUrl")
  const ask = askerOf(base, key, fetch, clock)
  return {
    /** Registers an agent; needs no key. `api_key` is shown only once. */
    signUp: (agent: answers.NewAgent = {}) => ask<answers.SignUp>("POST", "/api/agents/signup", { body: agent }),
    /** The agent that the key belongs to. */
    me: () => ask<answers.Profile>("GET", "/api/agents/me"),
    keys: keysOf(ask),
    /** What the account's keys did, by UTC day; `days` is 1 to 90 (default 30). */
    usage: (options: { readonly days?: number | undefined } = {}) =>
      ask<answers.Usage>("GET", "/api/usage", { query: options }),
    registry: registryOf(ask, async function* (options) {
      // Loaded when it is first used: most programs never follow changes.
      yield* (await import("./changes.ts")).follow(base, key, fetch, clock, errorOf, options)
    }),
    ...recordsOf(ask),
    /** A session token, valid until `expires_at`; `scope` is separated by spaces. Prefer `createSession`. */
    mintSession: (session: answers.NewSession) => ask<answers.MintedSession>("POST", "/ws/sessions", { body: session }),
  }
}

/** What `createPlatform` makes. */
export type Platform = ReturnType<typeof createPlatform>
