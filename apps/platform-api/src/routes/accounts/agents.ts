import { addressBucket } from "@svc/http"
import { z } from "@svc/openapi"
import { LRUCache } from "lru-cache"
import { signUp } from "../../auth/accounts.ts"
import { policies } from "../../auth/agent-policy.ts"
import { requestMs } from "../../auth/guard.ts"
import { nameFault, normaliseName } from "../../auth/name.ts"
import { agentStatuses } from "../../db/schema/index.ts"
import { errors } from "../../errors.ts"
import type { Dependencies } from "../../dependencies.ts"
import { jsonBody, type Serve } from "../endpoint.ts"

const signUpBody = z.object({
  display_name: z.string().meta({ description: "The name shown to people. Default: derived from the slug" }).optional(),
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

const mostExhausted = 100_000
/** The largest body of a sign-up. It is small, because there is no key yet to limit the caller. */
export const signUpBytes = 4096
const ownJson = { "content-type": "application/json", "cache-control": "no-store" }

export const agentRoutes = (serve: Serve, dependencies: Dependencies): void => {
  // Addresses that have used up their sign-ups, and until when. They are rejected without a query.
  const exhausted = new LRUCache<string, number>({ max: mostExhausted })
  const refuse = (waitSeconds: number) => errors.fail("rate-limit-exceeded", { retryAfterSeconds: waitSeconds })

  serve({
    method: "post",
    path: "/api/agents/signup",
    id: "signUp",
    summary: "Sign up an agent",
    description:
      "Creates an agent account and its first key. The key is shown only once. An address can sign up a few times an hour (SVC_SIGNUPS_PER_HOUR). After that, 429 says when to retry.",
    tag: "agents",
    access: "anyone",
    body: signUpBody,
    success: [201, "The account and its key", signUpAnswer],
    codes: ["invalid-display-name", "rate-limit-exceeded", "service-unavailable", "outcome-unknown"],
    handle: async (c) => {
      // Other sites' pages must not create accounts from their visitors' addresses.
      if (c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site") {
        const reason = "sign-up can't be called from other sites' pages"
        throw errors.fail("invalid-request", {
          details: { path: "", reason },
          hint: "Sign up from a program instead of a page.",
        })
      }
      const given = await jsonBody(c, signUpBody, signUpBytes)
      const displayName = given.display_name === undefined ? undefined : normaliseName(given.display_name)
      if (given.display_name !== undefined && displayName === undefined) {
        throw errors.fail("invalid-display-name", { details: { path: "display_name", reason: nameFault } })
      }
      const address = c.get("clientAddress")
      const bucket = addressBucket(address)
      const until = exhausted.get(bucket)
      if (until !== undefined && until > dependencies.now())
        throw refuse(Math.ceil((until - dependencies.now()) / 1000))
      exhausted.delete(bucket)
      const made = await signUp(
        dependencies.database.within(requestMs),
        { displayName, bucket, address, requestId: c.get("requestId") },
        dependencies.config.signupsPerHour,
        new Date(dependencies.wallClock()),
        dependencies.randomBytes,
      )
      if ("waitSeconds" in made) {
        exhausted.set(bucket, dependencies.now() + made.waitSeconds * 1000)
        throw refuse(made.waitSeconds)
      }
      dependencies.metrics.signedUp()
      const message = "Store the key now. It isn't shown again and can't be recovered."
      const { slug, displayName: display_name, key: api_key, keyId: key_id } = made
      const body = { slug, display_name, api_key, message, key_id }
      return c.json(body, 201, { "cache-control": "no-store" })
    },
  })

  serve({
    method: "get",
    path: "/api/agents/me",
    id: "getProfile",
    summary: "Get the agent's profile",
    tag: "agents",
    access: policies.agentAccount,
    success: [200, "The profile", profile],
    codes: [],
    handle: (c) => {
      const principal = c.get("principal")
      if (principal.kind !== "agent") throw errors.fail("agent-account-required")
      // A plain Response: Hono would copy the headers into a Headers object, which is slow on this frequent route.
      return new Response(JSON.stringify(principal.profile), { headers: ownJson })
    },
  })
}
