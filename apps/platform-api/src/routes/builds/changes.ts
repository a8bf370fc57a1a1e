import { json, z } from "@svc/openapi"
import { errors } from "../../errors.ts"
import { ownBuild, ownSpec } from "../../records/own.ts"
import { lifeCycles } from "../../records/transitions.ts"
import { versionOrLatest } from "../../records/spec-versions.ts"
import { beginOwnBuild } from "../../work/begin.ts"
import { endBuild } from "../../work/endings.ts"
import { createRoutes, idPath, jsonRequest } from "../api.ts"
import { createRoute } from "../create-route.ts"
import { nothing, recordNumber } from "../body-fields.ts"
import { change, changeFailures, changingWithBody } from "../change.ts"
import { deployCodes, firstLook } from "../deployments/deploying.ts"

export const newBuild = z.strictObject({
  spec_id: recordNumber.meta({ description: "The spec's id" }),
  spec_version_id: recordNumber.meta({ description: "A version's `id`. Default: the latest" }).optional(),
  allow_breaking: z.boolean().default(false).meta({ description: "Builds even if the version breaks readers" }),
})
const buildAnswer = z.object({ build_id: z.int(), status: z.string(), message: z.string() })

const accepted = (id: number, status: string, message: string) =>
  ({ status: 202, body: { build_id: id, status, message }, location: `/api/builds/${id}` }) as const

export const buildChangeRoutes = createRoutes()

const startBuild = createRoute({
  method: "post",
  path: "/api/builds",
  operationId: "startBuild",
  summary: "Start a build",
  description: "Builds a version of a spec, by default the latest, and deploys it.",
  ...changingWithBody(),
  request: { body: jsonRequest(newBuild) },
  responses: { 202: json("Accepted", buildAnswer), ...changeFailures("spec-not-found", ...deployCodes) },
})
buildChangeRoutes.openapi(startBuild, (c) => {
  const input = c.req.valid("json")
  return change(c, async ({ tx, at, userId, config, tell }) => {
    const spec = await ownSpec(tx, userId, input.spec_id)
    const specVersionId = await versionOrLatest(tx, spec.id, input.spec_version_id)
    await firstLook(tx, spec, config.streamUrlTemplate, at)
    const { allow_breaking: allowBreaking } = input
    const build = { ownerId: userId, specId: spec.id, specVersionId, allowBreaking }
    const id = await beginOwnBuild(tx, build, config.perOwner.waitingBuilds, at)
    await tell("build.create", `build:${id}`)
    return accepted(id, "pending", `Follow it: GET /api/builds/${id}`)
  })
})

const cancelBuild = createRoute({
  method: "post",
  path: "/api/builds/{id}/cancel",
  operationId: "cancelBuild",
  summary: "Cancel a build",
  description: "Cancels an unfinished build. The registry stays as it is.",
  ...changingWithBody("build-not-found"),
  request: { params: idPath, body: jsonRequest(nothing) },
  responses: { 202: json("Cancelled", buildAnswer), ...changeFailures("build-not-found", "build-state") },
})
buildChangeRoutes.openapi(cancelBuild, (c) => {
  const { id } = c.req.valid("param")
  return change(c, async ({ tx, at, userId, tell }) => {
    const build = await ownBuild(tx, userId, id)
    if (lifeCycles.build.ended.includes(build.status)) {
      throw errors.fail("build-state", { message: `The build is ${build.status} and can no longer be cancelled.` })
    }
    await endBuild(tx, build, "cancelled", "cancelled by its owner", at)
    await tell("build.cancel", `build:${id}`)
    return accepted(id, "cancelled", "Cancelled.")
  })
})
