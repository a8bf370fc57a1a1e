import { z } from "@svc/openapi"
import { policies } from "../../auth/agent-policy.ts"
import type { Dependencies } from "../../dependencies.ts"
import { errors } from "../../errors.ts"
import { ownBuild, ownSpec } from "../../records/own.ts"
import { versionOrLatest } from "../../records/spec-versions.ts"
import { beginOwnBuild } from "../../work/begin.ts"
import { endBuild } from "../../work/endings.ts"
import { branch, nothing, recordNumber } from "../body-fields.ts"
import { change, changeCodes } from "../change.ts"
import { branchOf, deployCodes, firstLook } from "../deployments/deploying.ts"
import type { Serve } from "../endpoint.ts"
import { readLargeBody } from "../large-body.ts"
import { recordId } from "../owned.ts"

export const newBuild = z.object({
  spec_id: recordNumber.meta({ description: "The spec's id" }),
  spec_version_id: recordNumber.meta({ description: "A version's `id`. Default: the latest" }).nullish(),
  branch,
  allow_breaking: z.boolean().default(false).meta({ description: "Builds even if the version breaks readers" }),
})
const buildAnswer = z.object({ build_id: z.int(), status: z.string(), message: z.string() })

const taken = (id: number, status: string, message: string) => ({
  status: 202 as const,
  body: JSON.stringify({ build_id: id, status, message } satisfies z.infer<typeof buildAnswer>),
  location: `/api/builds/${id}`,
})

export const buildChangeRoutes = (serve: Serve, dependencies: Dependencies): void => {
  const { config } = dependencies
  const common = { tag: "records", access: policies.people, method: "post" } as const

  serve({
    ...common,
    path: "/api/builds",
    id: "startBuild",
    summary: "Start a build",
    description: "Builds a version of a spec, by default the latest, and deploys it.",
    largeBody: newBuild,
    success: [202, "Taken", buildAnswer],
    codes: [...changeCodes, "spec-not-found", ...deployCodes],
    handle: async (c) => {
      const { given, hash } = await readLargeBody(dependencies, c, newBuild)
      return change(dependencies, c, hash, async ({ tx, at, userId, tell }) => {
        const spec = await ownSpec(tx, userId, given.spec_id)
        const onBranch = branchOf(spec, given.branch)
        const specVersionId = await versionOrLatest(tx, spec.id, given.spec_version_id)
        await firstLook(tx, spec, onBranch, config.streamUrlTemplate, at)
        const build = { ownerId: userId, specId: spec.id, specVersionId, branch: onBranch }
        const id = await beginOwnBuild(
          tx,
          { ...build, allowBreaking: given.allow_breaking },
          config.perOwner.waitingBuilds,
          at,
        )
        await tell("build.create", `build:${id}`)
        return taken(id, "pending", `Follow it: GET /api/builds/${id}`)
      })
    },
  })

  serve({
    ...common,
    path: "/api/builds/{id}/cancel",
    id: "cancelBuild",
    summary: "Cancel a build",
    description: "Cancels an unfinished build. The registry stays as it is.",
    largeBody: nothing,
    success: [202, "Cancelled", buildAnswer],
    codes: [...changeCodes, "build-not-found", "build-state"],
    handle: async (c) => {
      const id = recordId(c, "build-not-found")
      const { hash } = await readLargeBody(dependencies, c, nothing)
      return change(dependencies, c, hash, async ({ tx, at, userId, tell }) => {
        const build = await ownBuild(tx, userId, id)
        if (["completed", "failed", "cancelled"].includes(build.status)) {
          throw errors.fail("build-state", { message: `The build is ${build.status} and can no longer be cancelled.` })
        }
        await endBuild(tx, build, "cancelled", "cancelled by its owner", at)
        await tell("build.cancel", `build:${id}`)
        return taken(id, "cancelled", "Cancelled.")
      })
    },
  })
}
