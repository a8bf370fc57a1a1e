import { z } from "@svc/openapi"
import { isoTime } from "../db/time.ts"
import { errors } from "../errors.ts"
import { isVisible, listVisible } from "../records/visible.ts"
import type { Services } from "../services.ts"
import { sendOwn } from "./conditional.ts"
import { type Api, endpoint } from "./endpoint.ts"
import { isoTimeOrNull, reading, recordId, sendPage, sendRecords } from "./owned.ts"
import { pageOf, pageQuery } from "./paging.ts"
import { deployment, deploymentEvent } from "./record-schemas.ts"

type Deployment = z.infer<typeof deployment>
type DeploymentEvent = z.infer<typeof deploymentEvent>

const tables = { table: "deployments", shares: "deployment_shares" } as const

const columns = `d.id, d.spec_id, s.name as spec_name, d.branch, d.status, d.status_message, d.websocket_url, d.current_build_id,
  v.version_number as current_version, d.first_deployed_at, d.last_deployed_at`
const joins = `
  deployments d join specs s on s.id = d.spec_id left join builds b on b.id = d.current_build_id
  left join spec_versions v on v.id = b.spec_version_id`

const present = (row: Deployment): Deployment => ({
  ...row,
  first_deployed_at: isoTimeOrNull(row.first_deployed_at),
  last_deployed_at: isoTimeOrNull(row.last_deployed_at),
})

const presentEvent = (row: DeploymentEvent): DeploymentEvent => ({ ...row, created_at: isoTime(row.created_at) })

export const deploymentsSql = {
  list: listVisible(tables, columns, joins, "d"),
  one: `select ${columns} from ${joins} where ${isVisible(tables, "d")}`,
  // A deployment without a row on this page gives one row without an id; one that is not there gives none.
  events: `
    select e.id, d.id as deployment_id, e.event_type, e.previous_status, e.new_status, e.build_id, e.message, e.actor, e.created_at
    from deployments d left join lateral (
      select * from deployment_events where deployment_id = d.id order by id desc limit $3 offset $4
    ) e on true
    where ${isVisible(tables, "d")} order by e.id desc`,
}

export const deploymentRoutes = (api: Api, services: Services): void => {
  endpoint(
    api,
    services,
    {
      ...reading(z.array(deployment), "Deployments"),
      path: "/api/deployments",
      id: "listDeployments",
      summary: "The deployments that the caller sees, newest first",
      query: pageQuery,
      codes: ["invalid-request"],
    },
    (c) => sendRecords<Deployment>(c, deploymentsSql.list, present),
  )

  endpoint(
    api,
    services,
    {
      ...reading(deployment, "The deployment"),
      path: "/api/deployments/{id}",
      id: "getDeployment",
      summary: "One deployment",
      codes: ["invalid-request", "deployment-not-found"],
    },
    async (c) => {
      const id = recordId(c, "deployment-not-found")
      const [row] = await c.get("queries").query<Deployment>(deploymentsSql.one, [c.get("principal").userId, id])
      if (row === undefined) throw errors.fail("deployment-not-found")
      return sendOwn(c, JSON.stringify(present(row)))
    },
  )

  endpoint(
    api,
    services,
    {
      ...reading(z.array(deploymentEvent), "Events"),
      path: "/api/deployments/{id}/events",
      id: "listDeploymentEvents",
      summary: "A deployment's events, newest first",
      query: pageQuery,
      codes: ["invalid-request", "deployment-not-found"],
    },
    async (c) => {
      const page = pageOf(c)
      const id = recordId(c, "deployment-not-found")
      const values = [c.get("principal").userId, id, page.limit + 1, page.offset]
      const rows = await c.get("queries").query<DeploymentEvent | { id: null }>(deploymentsSql.events, values)
      if (rows.length === 0) throw errors.fail("deployment-not-found")
      return sendPage(
        c,
        page,
        rows.filter((row) => row.id !== null),
        presentEvent,
      )
    },
  )
}
