import { z } from "@svc/openapi"
import { type ErrorCode, errors } from "../errors.ts"
import type { Services } from "../services.ts"
import { sendOwn } from "./conditional.ts"
import { type Api, endpoint, idOf } from "./endpoint.ts"
import { pageOf, pageQuery } from "./paging.ts"
import {
  build,
  buildWithEvents,
  deployment,
  deploymentEvent,
  run,
  runWithSteps,
  spec,
  specVersion,
} from "./record-schemas.ts"
import { schema } from "./registry-schemas.ts"

const common = { method: "get", tag: "records", policy: "ownRecords" } as const
const notModified = { 304: ["Nothing changed since the ETag in If-None-Match"] } as const

/** The caller's specs, builds, deployments and runs. Nothing makes any yet, so all lists are empty. */
export const recordRoutes = (api: Api, services: Services): void => {
  const list = (path: string, id: string, what: string, record: z.ZodType) =>
    endpoint(
      api,
      services,
      {
        ...common,
        path,
        id,
        summary: `The caller's ${what}, newest first`,
        query: pageQuery,
        success: [200, what, z.array(record)],
        others: notModified,
        codes: ["invalid-request"],
      },
      (c) => {
        pageOf(c)
        return sendOwn(c, [])
      },
    )

  const one = (path: string, id: string, what: string, record: z.ZodType, missing: ErrorCode) =>
    endpoint(
      api,
      services,
      {
        ...common,
        path,
        id,
        summary: what,
        success: [200, what, record],
        others: notModified,
        codes: ["invalid-request", missing],
      },
      (c) => {
        idOf(c, "invalid-request")
        throw errors.fail(missing)
      },
    )

  list("/api/specs", "listSpecs", "specs", spec)
  one("/api/specs/{id}", "getSpec", "One spec", spec, "spec-not-found")
  one("/api/specs/{id}/schema", "getSpecSchema", "A spec's schema", schema, "spec-not-found")
  one("/api/specs/{id}/versions", "listSpecVersions", "A spec's versions", z.array(specVersion), "spec-not-found")
  list("/api/builds", "listBuilds", "builds", build)
  one("/api/builds/{id}", "getBuild", "One build with its events", buildWithEvents, "build-not-found")
  list("/api/deployments", "listDeployments", "deployments", deployment)
  one("/api/deployments/{id}", "getDeployment", "One deployment", deployment, "deployment-not-found")
  one(
    "/api/deployments/{id}/events",
    "listDeploymentEvents",
    "A deployment's events",
    z.array(deploymentEvent),
    "deployment-not-found",
  )
  list("/api/automation/runs", "listRuns", "workflow runs", run)
  one("/api/automation/runs/{id}", "getRun", "One workflow run with its steps", runWithSteps, "run-not-found")
}
