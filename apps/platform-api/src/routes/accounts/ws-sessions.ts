import { json, z } from "@svc/openapi"
import { sessionLifetimeSeconds, type SessionScope, sessionScopes, signSessionToken } from "@svc/session-token"
import { authenticated, policies } from "../../auth/guard.ts"
import { accountName, type Principal } from "../../auth/authenticate.ts"
import { limitsOf } from "../../auth/token-limits.ts"
import { errors, wrongField } from "../../errors.ts"
import type { PublishedStack, Registry } from "../../registry/registry.ts"
import { nearestText, normaliseWebsocketUrl, urlFault } from "../../registry/websocket-url.ts"
import { access, createRoutes, bodyCodes, jsonRequest, keyFailures, noStore, smallBody } from "../api.ts"
import { createRoute } from "../create-route.ts"

const body = z
  .object({
    websocket_url: z.string().optional().meta({ description: "The websocket_url of the stream, from the registry" }),
    stack: z.string().optional().meta({ description: "The stack's name, in place of `websocket_url`" }),
    scope: z
      .string("must be a string of scopes, separated by spaces; a list is called scopes")
      .optional()
      .meta({ description: "Scopes, separated by spaces", default: "read" }),
    scopes: z
      .array(z.string(), "must be an array; a string of scopes is called scope")
      .optional()
      .meta({ description: "The scopes as an array, instead of `scope`" }),
  })
  .refine(({ scope, scopes }) => scope === undefined || scopes === undefined, {
    path: ["scopes"],
    message: "can't be used together with scope",
  })
  .refine(({ websocket_url, stack }) => websocket_url !== undefined || stack !== undefined, {
    path: ["websocket_url"],
    message: "is missing, and so is stack",
  })
  .refine(({ websocket_url, stack }) => websocket_url === undefined || stack === undefined, {
    path: ["stack"],
    message: "can't be used together with websocket_url",
  })
const session = z.object({
  token: z.string().meta({ description: `A JWT, valid for ${sessionLifetimeSeconds / 60} minutes` }),
  expires_at: z.int().meta({ description: "Unix seconds" }),
  token_type: z.literal("Bearer"),
  scope: z.string().meta({ description: "The granted scopes, separated by spaces" }),
})

/** Streams serve public stacks. A person can also read their own. */
const isOpenTo = (stack: PublishedStack, principal: Principal): boolean =>
  stack.visibility === "public" ||
  (principal.kind === "human" && principal.keyClass === "secret" && stack.ownerId === principal.userId)

/** How a request names its stack. */
type Named = { readonly path: "websocket_url" | "stack"; readonly text: string }

/**
 * Rejects what isn't an open stack's URL or name, and suggests the nearest one. A private stack gets the same response as a
 * missing one, so that private names can't be probed. People get a different code than agents.
 */
const noSuchStack = ({ path, text }: Named, principal: Principal, registry: Registry) => {
  const isPerson = principal.kind === "human"
  const open = registry.all().filter((stack) => isOpenTo(stack, principal))
  const near = nearestText(
    text,
    open.map(({ websocketUrl, name }) => (path === "stack" ? name : websocketUrl)),
  )
  const what = path === "stack" ? "name" : "websocket_url"
  return errors.fail(isPerson ? "stack-not-found" : "agent-account-forbidden", {
    message: `The registry has no public stack${isPerson ? ", and you have no stack," : ""} with this ${what}.`,
    details: {
      path,
      reason: `isn't the ${path === "stack" ? "name" : "URL"} of a public stack${near === undefined ? "" : `; the nearest one is ${near}`}`,
    },
    hint: `${near === undefined ? "" : `Did you mean ${near}? `}Use the ${what} of a public stack from GET /api/registry.`,
  })
}

const scopesOf = ({ scope, scopes }: z.infer<typeof body>): readonly SessionScope[] => {
  const words = scopes ?? (scope === undefined ? ["read"] : scope.split(" ").filter((word) => word !== ""))
  const path = scopes === undefined ? "scope" : "scopes"
  if (words.length === 0) throw wrongField("invalid-scope", path, "must not be empty")
  const unknown = words.findIndex((word) => !sessionScopes.some((known) => known === word))
  if (unknown >= 0) {
    const place = scopes === undefined ? path : `${path}[${unknown}]`
    throw wrongField("invalid-scope", place, `has a scope other than ${sessionScopes.join(", ")}`)
  }
  return sessionScopes.filter((word) => words.includes(word))
}

const nameOf = ({ websocket_url = "", stack }: z.infer<typeof body>): Named => {
  if (stack !== undefined) return { path: "stack", text: stack.toLowerCase() }
  const url = normaliseWebsocketUrl(websocket_url)
  if (url === undefined) throw wrongField("invalid-websocket-url", "websocket_url", urlFault)
  return { path: "websocket_url", text: url }
}

const isRelayed = ({ visibility, relay }: PublishedStack): boolean => visibility === "public" && relay

/** What each scope needs of the stack and of the key. */
const mayHave: Readonly<Record<SessionScope, (stack: PublishedStack, keyClass: Principal["keyClass"]) => boolean>> = {
  read: () => true,
  "transaction:inspect": isRelayed,
  "transaction:send": (stack, keyClass) => isRelayed(stack) && (keyClass === "secret" || stack.browserSend),
}

export const sessionRoutes = createRoutes()

const mintSession = createRoute({
  method: "post",
  path: "/ws/sessions",
  operationId: "mintSession",
  summary: "Mint a session token",
  tags: ["sessions"],
  ...access(policies.sessions),
  middleware: [authenticated(policies.sessions), smallBody()],
  request: { body: jsonRequest(body) },
  responses: {
    200: json("The token", session),
    ...keyFailures(
      policies.sessions,
      ...bodyCodes,
      "invalid-websocket-url",
      "invalid-scope",
      "agent-account-forbidden",
      "stack-not-found",
      "scope-not-allowed",
    ),
  },
})
sessionRoutes.openapi(mintSession, async (c) => {
  const { registry, signingKeys, config, randomId, wallClock } = c.get("dependencies")
  const principal = c.get("principal")
  const given = c.req.valid("json")
  const named = nameOf(given)
  const scopes = scopesOf(given)
  const stack = named.path === "stack" ? registry.findByName(named.text) : registry.findByUrl(named.text)
  if (stack === undefined || !isOpenTo(stack, principal)) throw noSuchStack(named, principal, registry)
  const excess = scopes.find((word) => !mayHave[word](stack, principal.keyClass))
  if (excess !== undefined) {
    const path = given.scopes === undefined ? "scope" : "scopes"
    const whose = isRelayed(stack) ? "publishable keys don't have for this stack" : "this stack doesn't allow"
    throw wrongField("scope-not-allowed", path, `has ${excess}, which ${whose}`)
  }
  const scope = scopes.join(" ")
  const account = accountName(principal)
  const limits = await limitsOf(c.get("queries"), account, stack.name)
  const { token, expiresAt } = await signSessionToken(
    signingKeys,
    {
      iss: config.issuer,
      sub: account,
      aud: stack.name,
      jti: randomId(),
      scope,
      key_class: principal.keyClass,
      metering_key: `key:${principal.keyId}`,
      ...(principal.origin === undefined ? {} : { origin: principal.origin }),
      ...(limits === undefined ? {} : { limits }),
    },
    Math.floor(wallClock() / 1000),
  )
  return c.json({ token, expires_at: expiresAt, token_type: "Bearer" as const, scope }, 200, noStore)
})
