import { addressBucket } from "@svc/http"
import { json, z } from "@svc/openapi"
import type { MiddlewareHandler } from "hono"
import { signUp } from "../../auth/accounts.ts"
import { type AppEnv, authenticated, policies } from "../../auth/guard.ts"
import { nameFault, nameLength, normaliseName } from "../../auth/name.ts"
import { requestMs } from "../../db/database.ts"
import { agentStatuses } from "../../db/schema/index.ts"
import { errors, wrongField } from "../../errors.ts"
import { isOfDocumentation } from "../../answers.ts"
import { access, createRoutes, bodyCodes, failures, jsonRequest, keyFailures, noStore, smallBody } from "../api.ts"
import { createRoute } from "../create-route.ts"

const signUpBody = z.object({
  display_name: z
    .string()
    .meta({ description: `The name shown to people, ${nameLength}. Default: derived from the slug` })
    .optional()
    .transform((name) => (name === "" ? undefined : name)),
})
const signUpAnswer = z.object({
  slug: z.string().meta({ description: "The agent's generated name" }),
  display_name: z.string(),
  api_key: z.string().meta({ description: "Its secret key, shown only once" }),
  message: z.string(),
  key_id: z.int().meta({ description: "The key's id, for rotating or revoking it" }),
})
const profile = z.object({
  slug: z.string(),
  display_name: z.string(),
  status: z.enum(agentStatuses),
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
})

/** The largest body of a sign-up. It is small, because there is no key yet to limit the caller. */
export const signUpBytes = 4096

/** Other sites' pages must not create accounts from their visitors' addresses. The documentation may be on another site. */
const notFromOtherSites: MiddlewareHandler<AppEnv> = async (c, next) => {
  const isCross = c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site"
  if (isCross && !isOfDocumentation(c)) {
    const reason = "sign-up can't be called from other sites' pages"
    const hint = "Sign up from a program, or in the documentation's console."
    throw errors.fail("invalid-request", { details: { path: "", reason }, hint })
  }
  await next()
}

const signUpRoute = createRoute({
  method: "post",
  path: "/api/agents/signup",
  operationId: "signUp",
  summary: "Sign up an agent",
  description:
    "Creates an agent account and its first key. The key is shown only once. An address can sign up a few times an hour (SVC_SIGNUPS_PER_HOUR). After that, 429 says when to retry.",
  tags: ["agents"],
  ...access("anyone"),
  middleware: [notFromOtherSites, smallBody(signUpBytes)],
  request: { body: jsonRequest(signUpBody) },
  responses: {
    201: json("The account and its key", signUpAnswer),
    ...failures(...bodyCodes, "invalid-display-name", "rate-limit-exceeded", "service-unavailable", "outcome-unknown"),
  },
})

export const agentRoutes = createRoutes()

const refuse = (waitSeconds: number) => errors.fail("rate-limit-exceeded", { retryAfterSeconds: waitSeconds })

agentRoutes.openapi(signUpRoute, async (c) => {
  const dependencies = c.get("dependencies")
  const { database, config, exhausted, metrics, wallClock } = dependencies
  const given = c.req.valid("json")
  const displayName = given.display_name === undefined ? undefined : normaliseName(given.display_name)
  if (given.display_name !== undefined && displayName === undefined)
    throw wrongField("invalid-display-name", "display_name", nameFault)
  const [address, requestId] = [c.get("clientAddress"), c.get("requestId")]
  const bucket = addressBucket(address)
  const leftMs = exhausted.getRemainingTTL(bucket)
  if (leftMs > 0) throw refuse(Math.ceil(leftMs / 1000))
  const made = await signUp(
    database.within(requestMs),
    { displayName, bucket, address, requestId },
    config.signupsPerHour,
    new Date(wallClock()),
    dependencies,
  )
  if ("waitSeconds" in made) {
    exhausted.set(bucket, true, { ttl: made.waitSeconds * 1000 })
    throw refuse(made.waitSeconds)
  }
  metrics.signedUp()
  const message = "Store the key now. It isn't shown again and can't be recovered."
  const { slug, displayName: display_name, key: api_key, keyId: key_id } = made
  return c.json({ slug, display_name, api_key, message, key_id }, 201, noStore)
})

const getProfile = createRoute({
  method: "get",
  path: "/api/agents/me",
  operationId: "getProfile",
  summary: "Get the agent's profile",
  tags: ["agents"],
  ...access(policies.agentAccount),
  middleware: [authenticated(policies.agentAccount)],
  responses: { 200: json("The profile", profile), ...keyFailures(policies.agentAccount) },
})
agentRoutes.openapi(getProfile, (c) => {
  const principal = c.get("principal")
  if (principal.kind !== "agent") throw errors.fail("agent-account-required")
  return c.json(principal.profile, 200, noStore)
})
