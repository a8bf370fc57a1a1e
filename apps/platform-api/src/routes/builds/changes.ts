import { z } from "@svc/openapi"
import type { Dependencies } from "../../dependencies.ts"
import { errors } from "../../errors.ts"
import { ownBuild, ownSpec } from "../../records/own.ts"
import { versionOrLatest } from "../../records/spec-versions.ts"
import { beginOwnBuild } from "../../work/begin.ts"
import { endBuild } from "../../work/endings.ts"
import { branch, nothing, recordNumber } from "../body-fields.ts"
import { changesOf } from "../change.ts"
import { branchOf, deployCodes, firstLook } from "../deployments/deploying.ts"
import type { Serve } from "../endpoint.ts"

export const newBuild = z.object({
  spec_id: recordNumber.meta({ description: "The spec's id" }),
  spec_version_id: recordNumber.meta({ description: "A version's `id`. Default: the latest" }).nullish(),
  branch,
  allow_breaking: z.boolean().default(false).meta({ description: "Builds even if the version breaks readers" }),
})
const buildAnswer = z.object({ build_id: z.int(), status: z.string(), message: z.string() })

const taken = (id: number, status: string, message: string) => ({
  status: 202,
  body: JSON.stringify({ build_id: id, status, message } satisfies z.infer<typeof buildAnswer>),
  location: `/api/builds/${id}`,
})

export const buildChangeRoutes = (serve: Serve, dependencies: Dependencies): void => {
  const { config } = dependencies
  const serveChange = changesOf(serve, dependencies)

  serveChange({
    path: "/api/builds",
    id: "startBuild",
    summary: "Start a build",
    description: "Builds a version of a spec, by default the latest, and deploys it.",
    largeBody: newBuild,
    success: [202, "Taken", buildAnswer],
    codes: ["spec-not-found", ...deployCodes],
    work: async ({ tx, at, userId, tell }, { given }) => {
      const spec = await ownSpec(tx, userId, given.spec_id)
      const onBranch = branchOf(spec, given.branch)
      const specVersionId = await versionOrLatest(tx, spec.id, given.spec_version_id)
      await firstLook(tx, spec, onBranch, config.streamUrlTemplate, at)
      const { allow_breaking: allowBreaking } = given
      const build = { ownerId: userId, specId: spec.id, specVersionId, branch: onBranch, allowBreaking }
      const id = await beginOwnBuild(tx, build, config.perOwner.waitingBuilds, at)
      await tell("build.create", `build:${id}`)
      return taken(id, "pending", `Follow it: GET /api/builds/${id}`)
    },
  })

  serveChange({
    path: "/api/builds/{id}/cancel",
    id: "cancelBuild",
    summary: "Cancel a build",
    description: "Cancels an unfinished build. The registry stays as it is.",
    largeBody: nothing,
    success: [202, "Cancelled", buildAnswer],
    missing: "build-not-found",
    codes: ["build-state"],
    work: async ({ tx, at, userId, tell }, { id }) => {
      const build = await ownBuild(tx, userId, id)
      if (["completed", "failed", "cancelled"].includes(build.status)) {
        throw errors.fail("build-state", { message: `The build is ${build.status} and can no longer be cancelled.` })
      }
      await endBuild(tx, build, "cancelled", "cancelled by its owner", at)
      await tell("build.cancel", `build:${id}`)
      return taken(id, "cancelled", "Cancelled.")
    },
  })
}
