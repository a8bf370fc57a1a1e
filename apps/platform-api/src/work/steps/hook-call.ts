import { z } from "@svc/openapi"

/** The body of a deploy hook call, which the platform signs and a receiver reads. */
export const hookBody = z.strictObject({
  type: z.enum(["deployment.deploy", "deployment.stop", "deployment.restart", "deployment.remove"]),
  timestamp: z.iso.datetime(),
  data: z.strictObject({
    deployment_id: z.int(),
    spec_id: z.int(),
    name: z.string(),
    version: z.int().nullable(),
    content_hash: z.string().nullable(),
    websocket_url: z.string(),
    ast_url: z.string().nullable(),
  }),
})

export type HookBody = z.infer<typeof hookBody>
