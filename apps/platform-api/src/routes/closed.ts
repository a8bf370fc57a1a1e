import { allowedMethods } from "@svc/http"
import { policies } from "../auth/agent-policy.ts"
import { guarded } from "../auth/guard.ts"
import { errors } from "../errors.ts"
import type { Dependencies } from "../dependencies.ts"
import { type Api, undocumented } from "./endpoint.ts"

/** What agents may never know: refused whatever the body, and before an id is looked at. */
export const closedRoutes = (api: Api, dependencies: Dependencies): void => {
  // Whatever else is asked below /api/auth/keys: agents learn nothing, people what there is.
  for (const path of ["/api/auth/keys", "/api/auth/keys/*"]) {
    const refuse = guarded(dependencies, policies.people, (c) => {
      const allowed = allowedMethods(api, c.req.path)
      if (allowed.length === 0) throw errors.fail("not-found")
      throw errors.fail("method-not-allowed", { headers: { allow: allowed.join(", ") } })
    })
    undocumented(api, "all", path, refuse)
  }
}
