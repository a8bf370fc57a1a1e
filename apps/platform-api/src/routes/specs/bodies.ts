import { z } from "@svc/openapi"
import { visibilities } from "../../db/schema/index.ts"
import { agentSlugPattern } from "../../records/names.ts"
import { normaliseWebsocketUrl } from "../../registry/websocket-url.ts"
import { astPayload, nullAsAbsent, prose, specName } from "../api.ts"
import { diffAnswer } from "../registry/schemas.ts"

const websocketUrl = z
  .string()
  .refine((given) => normaliseWebsocketUrl(given) !== undefined, "must be a ws:// or wss:// URL")
  .overwrite((given) => normaliseWebsocketUrl(given) ?? given)
  .meta({ description: "Where its stream is: a ws:// or wss:// URL" })
const visibility = z
  .enum(visibilities, "must be public, global or private")
  .meta({ description: "Who can read it: everybody, everybody with a key, or you and those in shared_with" })
const sharedWith = z
  .array(z.string().regex(agentSlugPattern, "isn't an agent's slug"))
  .max(100, "must be at most 100 agents")
  .transform((slugs) => [...new Set(slugs)])
  .optional()
  .meta({ description: "Slugs of agents that can read it while it is private" })

export const newSpec = z.strictObject({
  name: specName,
  ast_payload: astPayload.optional().meta({ type: ["object", "null"] }),
  entity_name: prose(256).min(1).meta({ description: "Its main entity. Default: the AST's first" }).optional(),
  description: prose(4096).meta({ description: "A description for readers" }).optional(),
  websocket_url: websocketUrl.optional(),
  visibility: visibility.default("private"),
  shared_with: sharedWith,
})
export const specChange = z.strictObject({
  name: specName.optional(),
  description: prose(4096).meta({ description: "A description for readers" }).nullish(),
  websocket_url: websocketUrl.nullish(),
  visibility: visibility.optional(),
  shared_with: sharedWith
    .nullable()
    .transform((slugs) => (slugs === null ? [] : slugs))
    .meta({ description: "Slugs of agents that can read it while it is private; null or [] for none" }),
  deprecated: nullAsAbsent(
    z.strictObject({
      message: prose(1024).min(1).meta({ description: "The message for readers" }),
      successor: specName.meta({ description: "The stack to use instead" }).optional(),
    }),
  )
    .nullish()
    .meta({ description: "Deprecates the stack; null ends the deprecation" }),
})
export const newVersion = z
  .strictObject({
    ast_payload: astPayload,
    message: prose(1024).meta({ description: "What is new, for readers" }).optional(),
  })
  .meta({ required: ["ast_payload"] })
export const versionAnswer = z.object({
  version: z.int().positive().meta({ description: "The number of the version with this content" }),
  content_is_new: z.boolean().meta({ description: "Whether no earlier version of the spec has this content" }),
  version_is_new: z.boolean().meta({ description: "Whether a version was added" }),
  diff: diffAnswer,
  message: z.string().nullable(),
})
