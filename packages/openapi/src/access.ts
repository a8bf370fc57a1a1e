import { z } from "@hono/zod-openapi"

/**
 * Who may call an operation, as `x-access` says it in an OpenAPI document. `agent` and `person` are secret keys, `publishable` is a
 * browser key of either; `session` is a session token with `scope`; `link` is a signed link. `anyone` beside keys means that
 * a key is optional.
 */
export const accessSchema = z.strictObject({
  callers: z.array(z.enum(["anyone", "agent", "person", "publishable", "session", "link"])).min(1),
  scope: z.string().optional(),
})

export type Access = Readonly<z.infer<typeof accessSchema>>
