// The file that `records import` reads.
import { z } from "zod"
import { runTriggers, stepStatuses } from "../../db/schema/index.ts"
import { slugPattern } from "../stack-names.ts"
import { buildStatuses, deploymentStatuses, runStatuses } from "../transitions.ts"

const wellFormed = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** Text of one or more lines. */
const prose = (max: number) => z.string().max(max).refine(wellFormed, "has a character that can't be stored")

const line = (max: number) =>
  prose(max)
    .min(1)
    .refine((text) => !/\p{Cc}/u.test(text), "has a control character")

const earliest = 0
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

const time = z.iso
  .datetime({ offset: true, error: "must be a time such as 2026-01-31T12:00:00Z" })
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() >= earliest && at.getTime() <= latest, "must be in the years 1970 to 9999")

const ref = line(256)
const list = <T extends z.ZodType>(item: T) => z.array(item).default([])
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null)

const spec = z.strictObject({
  ref,
  name: line(256),
  entity_name: line(256),
  description: optional(prose(4096)),
  url_slug: optional(
    z.string().regex(slugPattern, "must have 1 to 63 lower-case letters, digits and dashes and not start with a dash"),
  ),
  websocket_url: optional(line(2048)),
  // The AST reader checks this.
  versions: z.array(z.strictObject({ ast_payload: z.unknown() })).min(1),
})

const build = z.strictObject({
  ref,
  spec: ref,
  version: optional(z.int().positive()),
  branch: optional(line(256)),
  progress: optional(z.int().min(0).max(100)),
  status_message: optional(prose(4096)),
  websocket_url: optional(line(2048)),
  created_at: time,
  events: list(
    z.strictObject({
      event_type: line(128),
      new_status: optional(z.enum(buildStatuses)),
      phase: optional(line(128)),
      at: time,
    }),
  ),
})

const deployment = z.strictObject({
  ref,
  spec: ref,
  build: optional(ref),
  branch: optional(line(256)),
  events: z
    .array(
      z.strictObject({
        event_type: line(128),
        new_status: optional(z.enum(deploymentStatuses)),
        at: time,
        actor: z.enum(["user", "system"]).default("system"),
        message: optional(prose(4096)),
      }),
    )
    .min(1),
})

const run = z.strictObject({
  ref,
  workflow: line(256),
  trigger: z.enum(runTriggers),
  spec: optional(ref),
  deployment: optional(ref),
  attempt: optional(z.int().min(1).max(1_000_000)),
  retry_of: optional(ref),
  error_code: optional(line(256)),
  error_message: optional(prose(4096)),
  created_at: time,
  events: list(z.strictObject({ new_status: z.enum(runStatuses), at: time })),
  steps: list(
    z.strictObject({
      name: line(256),
      status: z.enum(stepStatuses),
      started_at: optional(time),
      completed_at: optional(time),
      error_message: optional(prose(4096)),
    }),
  ),
})

export const document = z.strictObject({
  /** An agent's slug, or a person's e-mail address. */
  owner: line(256),
  shared_with: list(line(256)),
  specs: list(spec),
  builds: list(build),
  deployments: list(deployment),
  runs: list(run),
})

export type Document = z.infer<typeof document>
