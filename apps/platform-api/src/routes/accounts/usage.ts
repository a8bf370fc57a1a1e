import { json, z } from "@svc/openapi"
import { authenticated, policies } from "../../auth/guard.ts"
import { dayOf, readUsage, usageKeys } from "../../auth/usage.ts"
import { access, createRoutes, keyFailures, within } from "../api.ts"
import { createRoute } from "../create-route.ts"

const usageQuery = z.object({ days: within(1, 90, 30).meta({ description: "How many days, today included" }) })

const usage = z
  .object({
    from: z.iso.date().meta({ description: "The first day, in UTC" }),
    to: z.iso.date().meta({ description: "Today, in UTC" }),
    days: z
      .array(
        z.object({
          date: z.iso.date().meta({ description: "A day, in UTC" }),
          keys: z.array(
            z.object({
              id: z.int(),
              name: z.string(),
              requests: z.int().meta({
                description:
                  "Requests with this key, except those that get 401, come from another origin or exceed the key's own rate limit",
              }),
              refused: z.int().meta({ description: "Those that got 403 or 429" }),
              sessions: z.int().meta({ description: "Session tokens that it minted" }),
            }),
          ),
        }),
      )
      .meta({ description: "Days with use, oldest first" }),
  })
  .openapi("Usage")

export const usageRoutes = createRoutes()

const policy = policies.ownRecords
const getUsage = createRoute({
  method: "get",
  path: "/api/usage",
  operationId: "getUsage",
  summary: "Get the account's usage by key and day",
  description: `UTC days, the newest last. Days without use are left out. It names up to ${usageKeys} keys: those that aren't revoked, and those revoked last. Counted in memory and written every 10 seconds, so the last seconds may be missing.`,
  tags: ["keys"],
  ...access(policy),
  middleware: [authenticated(policy)],
  request: { query: usageQuery },
  responses: { 200: json("The usage", usage), ...keyFailures(policy, "invalid-request") },
})
usageRoutes.openapi(getUsage, async (c) => {
  const { days } = c.req.valid("query")
  const now = c.get("dependencies").wallClock()
  const from = dayOf(now, days - 1)
  const found = await readUsage(c.get("queries"), c.get("principal").userId, from)
  return c.json({ from, to: dayOf(now), days: found }, 200, { "cache-control": "private, no-cache" })
})
