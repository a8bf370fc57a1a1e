import { allowedMethods } from "@svc/http"
import { closedToAgents, policies } from "../auth/agent-policy.ts"
import { guarded } from "../auth/guard.ts"
import { errors } from "../errors.ts"
import type { Services } from "../services.ts"
import { type Api, endpoint, undocumented } from "./endpoint.ts"

/** What agents may never do: refused whatever the body, and before an id is looked at. */
export const closedRoutes = (api: Api, services: Services): void => {
  for (const [method, path] of closedToAgents) {
    const words = path.replaceAll(/^\/api\/|[{}]/g, "").split("/")
    endpoint(
      api,
      services,
      {
        method,
        path,
        id: [method, ...words].map((word) => word.replaceAll(/[^a-z]/g, "")).join("_"),
        summary: "Closed to agents; not offered to people yet",
        tag: "closed",
        access: policies.closed,
        codes: [],
      },
      () => {
        throw errors.fail("not-implemented")
      },
    )
  }
  // Whatever else is asked below /api/auth/keys: agents learn nothing, people what there is.
  for (const path of ["/api/auth/keys", "/api/auth/keys/*"]) {
    const refuse = guarded(services, policies.humanKeys, (c) => {
      const allowed = allowedMethods(api, c.req.path)
      if (allowed.length === 0) throw errors.fail("not-found")
      throw errors.fail("method-not-allowed", { headers: { allow: allowed.join(", ") } })
    })
    undocumented(api, "all", path, refuse)
  }
}
