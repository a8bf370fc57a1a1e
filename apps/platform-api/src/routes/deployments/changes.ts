import { json, z } from "@svc/openapi"
import { policies } from "../../auth/guard.ts"
import { eq } from "../../db/database.ts"
import { deployments } from "../../db/schema/index.ts"
import { errors } from "../../errors.ts"
import { ownDeployment, ownSpec } from "../../records/own.ts"
import { versionBefore, versionNumbered } from "../../records/spec-versions.ts"
import { beginOwnBuild } from "../../work/begin.ts"
import { deleteDeployment } from "../../work/endings.ts"
import { moveDeployment } from "../../work/events.ts"
import { addJob } from "../../work/queue/jobs.ts"
import type { DeploymentRow } from "../../work/records.ts"
import { endWorkOf } from "../../work/steps/run.ts"
import { createRoutes, idPath, jsonRequest, keyFailures, nothing, prose, recordNumber } from "../api.ts"
import { createRoute } from "../create-route.ts"
import { change, changeFailures, changing, changingWithBody, deployCodes, firstLook } from "../change.ts"

/** The statuses in which each operation can start. */
const allowedFrom = {
  stop: ["active", "failed"],
  restart: ["stopped"],
  rollback: ["active", "failed"],
} as const satisfies Record<string, readonly string[]>

const stopBody = z.strictObject({ reason: prose(1024).meta({ description: "The reason, for its events" }).optional() })
const rollbackBody = z.strictObject({
  to_version: recordNumber.meta({ description: "The version's number. Default: the one deployed before" }).optional(),
})
const deploymentAnswer = z.object({
  message: z.string(),
  deployment_id: z.int(),
  status: z.string(),
  build_id: z.int().optional(),
})
const deleted = deploymentAnswer.omit({ build_id: true }).extend({ id: z.int(), deleted: z.literal(true) })

const accepted = (id: number, status: string, message: string, more: { build_id?: number } = {}) =>
  ({
    status: 202,
    body: { message, deployment_id: id, status, ...more },
    location: more.build_id === undefined ? `/api/deployments/${id}` : `/api/builds/${more.build_id}`,
  }) as const

/** Returns the deployment's status. Throws deployment-state unless the operation can start now. */
const requireState = (deployment: DeploymentRow, operation: keyof typeof allowedFrom, done: string) => {
  const from = allowedFrom[operation].find((status) => status === deployment.status)
  if (from !== undefined && deployment.operation === null) return from
  throw errors.fail("deployment-state", {
    message: `The deployment is ${deployment.status ?? "not begun"}, so it can't be ${done} now.`,
  })
}

export const deploymentChangeRoutes = createRoutes()

const missing = "deployment-not-found"

const operation = (
  verb: "stop" | "restart",
  summary: string,
  done: string,
  body: z.ZodObject & z.ZodType<{ reason?: string | undefined }>,
) => {
  const route = createRoute({
    method: "post",
    path: `/api/deployments/{id}/${verb}`,
    operationId: `${verb}Deployment`,
    summary,
    ...changingWithBody(missing),
    request: { params: idPath, body: jsonRequest(body) },
    responses: { 202: json("Accepted", deploymentAnswer), ...changeFailures(missing, "deployment-state") },
  })
  deploymentChangeRoutes.openapi(route, (c) => {
    const { id } = c.req.valid("param")
    const { reason: message = null } = c.req.valid("json")
    return change(c, async ({ tx, at, userId, tell }) => {
      const deployment = await ownDeployment(tx, userId, id)
      const settledStatus = requireState(deployment, verb, done)
      const { currentBuildId: buildId, ownerId, specId } = deployment
      if (verb === "stop") {
        await endWorkOf(tx, specId, { code: "deployment-stopped", message: "its deployment was stopped" }, at)
      }
      const event = { at, eventType: verb, buildId, actor: "user", message } as const
      const operationId = await moveDeployment(tx, id, "updating", event)
      await tx.update(deployments).set({ operation: verb, operationId, settledStatus }).where(eq(deployments.id, id))
      await addJob(tx, "deployment", id, ownerId, specId)
      await tell(`deployment.${verb}`, `deployment:${id}`)
      return accepted(id, "updating", `It is being ${done}.`)
    })
  })
}
operation("stop", "Stop a deployment", "stopped", stopBody)
operation("restart", "Restart a deployment", "restarted", nothing)

const rollbackDeployment = createRoute({
  method: "post",
  path: "/api/deployments/{id}/rollback",
  operationId: "rollbackDeployment",
  summary: "Roll a deployment back",
  description: "Builds and deploys an earlier version, by default the one deployed before.",
  ...changingWithBody(missing),
  request: { params: idPath, body: jsonRequest(rollbackBody) },
  responses: {
    202: json("Accepted", deploymentAnswer),
    ...changeFailures(missing, "deployment-state", ...deployCodes),
  },
})
deploymentChangeRoutes.openapi(rollbackDeployment, (c) => {
  const { id } = c.req.valid("param")
  const { to_version: number } = c.req.valid("json")
  return change(c, async ({ tx, at, userId, config, tell }) => {
    const deployment = await ownDeployment(tx, userId, id)
    const status = requireState(deployment, "rollback", "rolled back")
    const spec = await ownSpec(tx, userId, deployment.specId)
    const specVersionId =
      number === undefined ? await versionBefore(tx, id) : await versionNumbered(tx, spec.id, number)
    await firstLook(tx, spec, config.streamUrlTemplate, at)
    const build = { ownerId: userId, specId: spec.id, specVersionId, allowBreaking: true }
    const buildId = await beginOwnBuild(tx, build, config.perOwner.waitingBuilds, at)
    await tell("deployment.rollback", `deployment:${id} build:${buildId}`)
    return accepted(id, status, "It is being rolled back.", { build_id: buildId })
  })
})

const removeDeployment = createRoute({
  method: "delete",
  path: "/api/deployments/{id}",
  operationId: "deleteDeployment",
  summary: "Delete a deployment",
  description: "Deletes a stopped deployment. Its stack's name stays reserved for a while.",
  ...changing(missing),
  request: { params: idPath },
  responses: {
    200: json("Deleted", deleted),
    ...keyFailures(policies.people, "invalid-request", "outcome-unknown", missing, "deployment-active"),
  },
})
deploymentChangeRoutes.openapi(removeDeployment, (c) => {
  const { id } = c.req.valid("param")
  return change(c, async ({ tx, at, userId, tell }) => {
    const deployment = await ownDeployment(tx, userId, id)
    const { status } = deployment
    if (status !== "stopped") {
      throw errors.fail("deployment-active", { message: `The deployment is ${status}, not stopped.` })
    }
    await deleteDeployment(tx, deployment, at)
    await tell("deployment.delete", `deployment:${id}`)
    const body = { message: "It is deleted.", deployment_id: id, status, id, deleted: true } as const
    return { status: 200, body } as const
  })
})
