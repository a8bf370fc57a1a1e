import { z } from "@svc/openapi"
import { and, desc, eq, exists, type Orm, prepared, sql } from "../../db/database.ts"
import { builds, deploymentEvents, deployments, specs, specVersions } from "../../db/schema/index.ts"
import { deploymentStatuses } from "../../records/transitions.ts"
import { isOnPage, isVisible, selectVisible } from "../../records/visible.ts"
import { createRoutes, idPath, paged, pageQuery } from "../api.ts"
import { createRoute, revalidated, sendOwn } from "../create-route.ts"
import { listRoute, readBelongings, reading, readingAs, readOne, readPage, recordRoute } from "../owned.ts"
import { record, recordId, text, time } from "../record.ts"

const status = z.enum(deploymentStatuses)

const deployment = record({
  id: [deployments.id, recordId.meta({ description: "Its id" })],
  spec_id: [deployments.specId, recordId.meta({ description: "The spec that it serves" })],
  spec_name: [specs.name, text],
  // Null only inside the transaction that creates the deployment.
  status: [sql<z.infer<typeof status>>`${deployments.status}`, status],
  status_message: [deployments.statusMessage, text.meta({ description: "Why it failed" })],
  websocket_url: [deployments.websocketUrl, text],
  current_build_id: [deployments.currentBuildId, recordId.meta({ description: "The build that it serves" })],
  // Null without a build, or if the build has no version.
  current_version: [specVersions.versionNumber, z.int().meta({ description: "The version that it serves" }).nullable()],
  first_deployed_at: [deployments.firstDeployedAt, time],
  last_deployed_at: [deployments.lastDeployedAt, time],
})
const deploymentAnswer = deployment.schema.openapi("Deployment")

const event = record({
  id: [deploymentEvents.id, recordId],
  deployment_id: [deploymentEvents.deploymentId, recordId],
  event_type: [deploymentEvents.eventType, text],
  previous_status: [deploymentEvents.previousStatus, status],
  new_status: [deploymentEvents.newStatus, status],
  build_id: [deploymentEvents.buildId, recordId],
  message: [deploymentEvents.message, text],
  actor: [deploymentEvents.actor, z.enum(["user", "system"])],
  created_at: [deploymentEvents.createdAt, time],
})
const eventAnswer = event.schema.openapi("DeploymentEvent")

const selectDeployments = (db: Orm) =>
  db
    .select(deployment.columns)
    .from(deployments)
    .innerJoin(specs, eq(specs.id, deployments.specId))
    .leftJoin(builds, eq(builds.id, deployments.currentBuildId))
    .leftJoin(specVersions, eq(specVersions.id, builds.specVersionId))

export const deploymentStatements = {
  list: prepared((db) =>
    selectDeployments(db).where(isOnPage("deployments")).orderBy(desc(deployments.id)).prepare("deployments"),
  ),
  one: prepared((db) => selectDeployments(db).where(isVisible(db, "deployments")).prepare("deployment")),
  seen: prepared((db) => selectVisible(db, "deployments").prepare("seen_deployment")),
  events: prepared((db) =>
    db
      .select(event.columns)
      .from(deploymentEvents)
      .where(and(eq(deploymentEvents.deploymentId, sql.placeholder("id")), exists(selectVisible(db, "deployments"))))
      .orderBy(desc(deploymentEvents.id))
      .limit(sql.placeholder("limit"))
      .offset(sql.placeholder("offset"))
      .prepare("deployment_events"),
  ),
}

export const deploymentRoutes = createRoutes()

const path = "/api/deployments"
const listDeployments = listRoute(path, "Deployments", deploymentAnswer)
deploymentRoutes.openapi(listDeployments, async (c) =>
  sendOwn(c, await readPage(c, deploymentStatements.list, c.req.valid("query"))),
)

const texts = { response: "The deployment" }
const getDeployment = recordRoute(path, "Deployment", deploymentAnswer, texts)
deploymentRoutes.openapi(getDeployment, async (c) => {
  const [row] = await readOne(c, deploymentStatements.one, c.req.valid("param").id, "deployment-not-found")
  return sendOwn(c, row)
})

const listDeploymentEvents = createRoute(
  {
    method: "get",
    path: `${path}/{id}/events`,
    operationId: "listDeploymentEvents",
    summary: "List a deployment's events",
    description: "Lists them newest first.",
    ...reading,
    request: { params: idPath, query: pageQuery },
    responses: readingAs("Events", z.array(eventAnswer), "deployment-not-found"),
  },
  revalidated,
  paged,
)
deploymentRoutes.openapi(listDeploymentEvents, async (c) => {
  const { events, seen } = deploymentStatements
  const { id: deploymentId } = c.req.valid("param")
  const page = c.req.valid("query")
  return sendOwn(c, await readBelongings(c, events, deploymentId, page, seen, "deployment-not-found"))
})
