import type * as answers from "./generated/answers.ts"
import { type Clock, systemClock } from "./clock.ts"
import { baseUrl, errorOf, type Fetch, request } from "./http.ts"

export type PlatformOptions = {
  /** The agent platform API, `https://api.example`. */
  readonly apiUrl: string
  /** A secret key, or in a page a publishable one of the page's origin. It goes to `apiUrl` alone. */
  readonly key?: string
  /** Instead of the global `fetch`. */
  readonly fetch?: Fetch
  /** For tests. */
  readonly clock?: Clock
}

/** A part of a list: `limit` 1 to 100 (50), `offset` from 0. */
export type Page = { readonly limit?: number; readonly offset?: number }

/** How a new key is called, and how many days it lives (1 to 3650). */
export type NewKey = { readonly name?: string; readonly expires_in_days?: number }

/** How a key is replaced: the old one ends `overlap_seconds` (0 to 604,800, default 3,600) from now. */
export type Rotation = { readonly name?: string; readonly overlap_seconds?: number }

/** One call to the platform, made by `createPlatform`. */
type Ask = <Answer>(
  method: "GET" | "POST" | "DELETE",
  path: string,
  options?: { readonly query?: object; readonly body?: unknown },
) => Promise<Answer>

const timeoutMs = 12_000

const pathPart = (value: string | number): string => {
  // A browser or a proxy resolves these, however they are encoded.
  if (value === "." || value === ".." || value === "") throw new TypeError(`${JSON.stringify(value)} names nothing`)
  return encodeURIComponent(value)
}

const queryOf = (values: object): string => {
  // Without what is undefined.
  const given = JSON.parse(JSON.stringify(values)) as Record<string, string>
  const query = new URLSearchParams(given).toString()
  return query && `?${query}`
}

const keysOf = (ask: Ask) => {
  const path = "/api/agents/me/keys"
  return {
    /** Every key of the agent, oldest first, never the keys themselves. */
    list: (page: Page = {}) => ask<answers.Keys>("GET", path, { query: page }),
    /** A further secret key; `key` is shown this once. */
    mint: (key: NewKey = {}) => ask<answers.MintedKey>("POST", path, { body: key }),
    /** A key for the pages of one origin, `https://app.example`; shown this once. */
    mintPublishable: ({ origin, ...key }: NewKey & { readonly origin: string }) =>
      ask<answers.MintedKey>("POST", `${path}/publishable`, { body: { ...key, origin_allowlist: [origin] } }),
    /** Puts a new key in another's place; the old one ends after an overlap. */
    rotate: (id: number, rotation: Rotation = {}) =>
      ask<answers.RotatedKey>("POST", `${path}/${pathPart(id)}/rotate`, { body: rotation }),
    /** Ends a key for good, from the next request on. */
    revoke: (id: number) => ask<answers.RevokedKey>("DELETE", `${path}/${pathPart(id)}`),
  }
}

/** Which changes of the registry to follow. */
export type FollowOptions = {
  /** The id of the last change that you know; what comes next unless given. */
  readonly after?: number
  /** Changes of this stack only. */
  readonly stack?: string
  /** Ends the loop. */
  readonly signal?: AbortSignal
}

const registryOf = (ask: Ask, changes: (options?: FollowOptions) => AsyncGenerator<answers.RegistryChange, void>) => {
  const stack = (name: string, rest = "") => `/api/registry/${pathPart(name)}${rest}`
  return {
    /**
     * Public stacks by name, and with a good key the `global` ones; `include: "schema"` adds each one's schema. A list ends early
     * when its schemas are large: to read on, raise `offset` by the number of stacks that came, until none come.
     */
    list: (options: Page & { readonly q?: string; readonly include?: "schema" } = {}) =>
      ask<readonly answers.Stack[]>("GET", "/api/registry", { query: options }),
    get: (name: string) => ask<answers.Stack>("GET", stack(name)),
    /** Entities, fields, types and views: what code that reads the stack is written from. */
    schema: (name: string, options: { readonly version?: number } = {}) =>
      ask<answers.StackWithSchema>("GET", stack(name, "/schema"), { query: options }),
    ast: (name: string, options: { readonly version?: number } = {}) =>
      ask<answers.StackAst>("GET", `/api/registry/stacks/${pathPart(name)}/ast`, { query: options }),
    /** Every version that was ever served, newest first. */
    versions: (name: string) => ask<answers.StackVersions>("GET", stack(name, "/versions")),
    /** What changed from one version to another, from a reader's side; the two latest unless said. */
    diff: (name: string, options: { readonly from?: number; readonly to?: number } = {}) =>
      ask<answers.Diff>("GET", stack(name, "/diff"), { query: options }),
    /**
     * Every change of the registry as it happens, in order and without a gap: a lost connection is opened again where it
     * ended. `for await` over it; `signal` or leaving the loop ends it. Throws SvcError where trying again is no use.
     */
    changes,
  }
}

const recordsOf = (ask: Ask) => ({
  specs: {
    list: (page: Page = {}) => ask<readonly answers.Spec[]>("GET", "/api/specs", { query: page }),
    get: (id: number) => ask<answers.Spec>("GET", `/api/specs/${pathPart(id)}`),
    schema: (id: number) => ask<answers.SpecSchema>("GET", `/api/specs/${pathPart(id)}/schema`),
    versions: (id: number, page: Page = {}) =>
      ask<readonly answers.SpecVersion[]>("GET", `/api/specs/${pathPart(id)}/versions`, { query: page }),
  },
  builds: {
    list: (page: Page = {}) => ask<readonly answers.Build[]>("GET", "/api/builds", { query: page }),
    get: (id: number) => ask<answers.BuildWithEvents>("GET", `/api/builds/${pathPart(id)}`),
  },
  deployments: {
    list: (page: Page = {}) => ask<readonly answers.Deployment[]>("GET", "/api/deployments", { query: page }),
    get: (id: number) => ask<answers.Deployment>("GET", `/api/deployments/${pathPart(id)}`),
    events: (id: number, page: Page = {}) =>
      ask<readonly answers.DeploymentEvent[]>("GET", `/api/deployments/${pathPart(id)}/events`, { query: page }),
  },
  runs: {
    list: (page: Page = {}) => ask<readonly answers.Run[]>("GET", "/api/automation/runs", { query: page }),
    get: (id: number) => ask<answers.RunWithSteps>("GET", `/api/automation/runs/${pathPart(id)}`),
  },
})

/**
 * The agent platform API: sign-up, keys, the registry, an agent's own records, session tokens. Answers are the API's, in its
 * own snake_case; times are RFC 3339 in UTC. Every call takes 12 seconds at most and throws SvcError.
 *
 * @throws TypeError when `apiUrl` is no http or https URL.
 * @example
 * const platform = createPlatform({ apiUrl: "https://api.example", key: process.env.SVC_API_KEY })
 * const { schema } = await platform.registry.schema("transfers")
 */
export const createPlatform = ({ apiUrl, key, fetch, clock = systemClock }: PlatformOptions) => {
  const base = baseUrl(apiUrl, "apiUrl")
  const ask: Ask = async <Answer>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    { query = {}, body }: { readonly query?: object; readonly body?: unknown } = {},
  ): Promise<Answer> => {
    const url = `${base}${path}${queryOf(query)}`
    // The global one is looked up at each call: a page may replace it.
    const answer = await request(fetch ?? globalThis.fetch, clock, { url, method, bearer: key, body, timeoutMs })
    if (answer.status < 200 || answer.status >= 300 || answer.body === undefined) throw errorOf(answer)
    // The platform's own tests hold its answers against the document that these types are made from.
    return answer.body as Answer
  }
  return {
    /** Registers an agent, without a key. `api_key` is shown this once. */
    signUp: (agent: { readonly display_name?: string } = {}) =>
      ask<answers.SignUp>("POST", "/api/agents/signup", { body: agent }),
    /** The agent that the key belongs to. */
    me: () => ask<answers.Profile>("GET", "/api/agents/me"),
    keys: keysOf(ask),
    registry: registryOf(ask, async function* (options) {
      // Most programs never follow changes: their bundle loads this part when it is asked for.
      yield* (await import("./changes.ts")).follow(base, key, fetch, clock, errorOf, options)
    }),
    ...recordsOf(ask),
    /** A session token, good until `expires_at`; `scope` in words with spaces between. Rather use `createSession`. */
    mintSession: (session: { readonly websocket_url: string; readonly scope?: string }) =>
      ask<answers.MintedSession>("POST", "/ws/sessions", { body: session }),
  }
}

/** What `createPlatform` makes. */
export type Platform = ReturnType<typeof createPlatform>
