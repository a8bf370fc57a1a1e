import { createRoute, z } from "@svc/openapi"
import { deploymentEvents, deployments, specs, specVersions } from "../../db/schema/index.ts"
import { deploymentStatuses } from "../../records/transitions.ts"
import { isVisible, listVisible } from "../../records/visible.ts"
import type { Dependencies } from "../../dependencies.ts"
import { type Api, idPath } from "../api.ts"
import { reading, readingAs, sendBelongings, serveList, serveOne } from "../owned.ts"
import { pageQuery } from "../paging.ts"
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

export const deploymentRoutes = (api: Api, dependencies: Dependencies): void => {
  const path = "/api/deployments"
  serveList(api, dependencies, path, "Deployments", deploymentAnswer, deploymentsSql.list, deployment.present)
  const texts = { response: "The deployment" }
  serveOne(api, dependencies, path, "Deployment", deploymentAnswer, texts, deploymentsSql.one, ([row]) =>
    deployment.present(row),
  )

  const listDeploymentEvents = createRoute({
    method: "get",
    path: `${path}/{id}/events`,
    operationId: "listDeploymentEvents",
    summary: "List a deployment's events",
    description: "Lists them newest first.",
    ...reading(dependencies),
    request: { params: idPath, query: pageQuery },
    responses: readingAs("Events", z.array(eventAnswer), "deployment-not-found"),
  })
  api.openapi(listDeploymentEvents, (c) => {
    const { id: deploymentId } = c.req.valid("param")
    const page = c.req.valid("query")
    return sendBelongings(c, deploymentsSql.events, deploymentId, page, "deployment-not-found", event.present)
  })
}
