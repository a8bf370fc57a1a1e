import { z } from "@svc/openapi"
import { buildStatuses, deploymentStatuses, runStatuses } from "../records/transitions.ts"
import { schemaAnswer } from "./registry-schemas.ts"

const id = z.int().positive()
const time = z.iso.datetime()
const optionalText = z.string().nullable()
const optionalTime = time.nullable()

export const spec = z
  .object({
    id,
    name: z.string(),
    entity_name: z.string(),
    description: optionalText,
    url_slug: z.string(),
    websocket_url: optionalText,
    latest_version: z.int(),
    created_at: time,
    updated_at: time,
  })
  .openapi("Spec")

/** As the registry's, but that a spec need not be served anywhere. */
export const specSchema = schemaAnswer.extend({ websocket_url: optionalText })

export const specVersion = z
  .object({
    id,
    spec_id: id,
    version_number: z.int(),
    content_hash: z.string(),
    state_name: z.string(),
    program_id: optionalText,
    handler_count: z.int(),
    section_count: z.int(),
    created_at: time,
  })
  .openapi("SpecVersion")

const buildStatus = z.enum(buildStatuses)

export const build = z
  .object({
    id,
    spec_id: id,
    spec_version_id: id.nullable(),
    branch: optionalText,
    status: buildStatus,
    phase: optionalText,
    progress: z.int().min(0).max(100).nullable(),
    status_message: optionalText,
    websocket_url: optionalText,
    created_at: time,
    started_at: optionalTime,
    completed_at: optionalTime,
  })
  .openapi("Build")

export const buildEvent = z.object({
  id,
  event_type: z.string(),
  phase: optionalText,
  previous_status: buildStatus.nullable(),
  new_status: buildStatus.nullable(),
  created_at: time,
})

export const buildWithEvents = build.extend({ events: z.array(buildEvent) })

const deploymentStatus = z.enum(deploymentStatuses)

export const deployment = z
  .object({
    id,
    spec_id: id,
    spec_name: z.string(),
    branch: optionalText,
    status: deploymentStatus,
    status_message: optionalText,
    websocket_url: z.string(),
    current_build_id: id.nullable(),
    current_version: z.int().nullable(),
    first_deployed_at: optionalTime,
    last_deployed_at: optionalTime,
  })
  .openapi("Deployment")

export const deploymentEvent = z
  .object({
    id,
    deployment_id: id,
    event_type: z.string(),
    previous_status: deploymentStatus.nullable(),
    new_status: deploymentStatus.nullable(),
    build_id: id.nullable(),
    message: optionalText,
    actor: z.enum(["user", "system"]),
    created_at: time,
  })
  .openapi("DeploymentEvent")

export const run = z
  .object({
    id,
    workflow: z.string(),
    status: z.enum(runStatuses),
    trigger: z.enum(["manual", "schedule", "event"]),
    spec_id: id.nullable(),
    deployment_id: id.nullable(),
    attempt: z.int().positive(),
    retry_of_id: id.nullable(),
    error_code: optionalText,
    error_message: optionalText,
    created_at: time,
    started_at: optionalTime,
    completed_at: optionalTime,
  })
  .openapi("Run")

export const runStep = z.object({
  name: z.string(),
  status: z.enum(["queued", "running", "succeeded", "failed", "skipped"]),
  started_at: optionalTime,
  completed_at: optionalTime,
  error_message: optionalText,
})

export const runWithSteps = run.extend({ steps: z.array(runStep) })
