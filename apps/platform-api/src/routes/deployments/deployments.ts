import { z } from "@svc/openapi"
import { deploymentEvents, deployments, specs, specVersions } from "../../db/schema/index.ts"
import { deploymentStatuses } from "../../records/transitions.ts"
import { isVisible, listVisible } from "../../records/visible.ts"
import type { Serve } from "../endpoint.ts"
import { belongingsOf, listOf, oneOf } from "../owned.ts"
import { fieldsOf, id, record, text, time } from "../record.ts"

const status = z.enum(deploymentStatuses)

const d = fieldsOf("d")
const deployment = record({
  id: d(deployments.id, id.meta({ description: "Its id" })),
  spec_id: d(deployments.specId, id.meta({ description: "The spec that it serves" })),
  spec_name: fieldsOf("s")(specs.name, text),
  branch: d(deployments.branch, text.meta({ description: "null for production" })),
  // Null only inside the transaction that creates the deployment.
  status: d(deployments.status, status, false),
  status_message: d(deployments.statusMessage, text.meta({ description: "Why it failed" })),
  websocket_url: d(deployments.websocketUrl, text),
  current_build_id: d(deployments.currentBuildId, id.meta({ description: "The build that it serves" })),
  // Null without a build, or if the build has no version.
  current_version: fieldsOf("v")(
    specVersions.versionNumber,
    z.int().meta({ description: "The version that it serves" }),
    true,
  ),
  first_deployed_at: d(deployments.firstDeployedAt, time),
  last_deployed_at: d(deployments.lastDeployedAt, time),
})
const deploymentAnswer = deployment.schema.openapi("Deployment")
const joins = `
  deployments d join specs s on s.id = d.spec_id left join builds b on b.id = d.current_build_id
  left join spec_versions v on v.id = b.spec_version_id`

const e = fieldsOf("e")
const event = record({
  id: e(deploymentEvents.id, id),
  deployment_id: e(deploymentEvents.deploymentId, id),
  event_type: e(deploymentEvents.eventType, text),
  previous_status: e(deploymentEvents.previousStatus, status),
  new_status: e(deploymentEvents.newStatus, status),
  build_id: e(deploymentEvents.buildId, id),
  message: e(deploymentEvents.message, text),
  actor: e(deploymentEvents.actor, z.enum(["user", "system"])),
  created_at: e(deploymentEvents.createdAt, time),
})
const eventAnswer = event.schema.openapi("DeploymentEvent")

export const deploymentsSql = {
  list: listVisible("deployments", deployment.columns, joins, "d"),
  one: `select ${deployment.columns} from ${joins} where ${isVisible("deployments", "d")}`,
  // A deployment without events on this page gives one row without an id. A missing deployment gives no row.
  events: `
    select ${event.columns} from deployments d left join lateral (
      select * from deployment_events where deployment_id = d.id order by id desc limit $3 offset $4
    ) e on true
    where ${isVisible("deployments", "d")} order by e.id desc`,
}

export const deploymentRoutes = (serve: Serve): void => {
  const path = "/api/deployments"
  const { list, one, events } = deploymentsSql
  serve(listOf(path, "Deployments", deploymentAnswer, list, deployment.present))
  serve(oneOf(path, "Deployment", deploymentAnswer, "The deployment", one, ([row]) => deployment.present(row)))
  serve({
    ...belongingsOf(`${path}/{id}/events`, eventAnswer, "Events", events, "deployment-not-found", event.present),
    id: "listDeploymentEvents",
    summary: "List a deployment's events",
  })
}
