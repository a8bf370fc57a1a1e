// What the tool prints with --json, as far as the journey reads it.
import { z } from "zod"

export const init = z.object({ files: z.array(z.object({ path: z.string(), result: z.string() })) })
export const identity = z.object({
  slug: z.string(),
  display_name: z.string(),
  status: z.literal("active"),
  api_url: z.string(),
  key_hint: z.string(),
})
/** The credentials file: by API URL. */
export const credentials = z.record(z.string(), z.object({ api_key: z.string() }))
export const registry = z.object({
  registry: z.array(z.object({ name: z.string(), websocket_url: z.string(), entities: z.array(z.string()) })),
})
export const entity = z.object({
  name: z.string(),
  fields: z.array(z.object({ path: z.string(), rust_type: z.string() })).min(1),
})
export const session = z.object({ token: z.string(), scope: z.string(), expires_at: z.int() })
const key = z.object({ id: z.int(), name: z.string() })
export const keys = z.array(key.extend({ current: z.boolean() }))
export const revoked = z.object({ revoked: z.boolean(), remaining_secret_keys: z.int() })
export const listed = z.array(z.object({ name: z.string(), version: z.int() }))
/** What the local stream serves. */
export const streamed = z.object({ stacks: z.record(z.string(), z.object({ version: z.int() })) })
/** A line of `svc watch`. */
export const live = z.object({
  record: z.object({
    parties: z.object({ source: z.string(), destination: z.string() }),
    amount: z.object({ lamports: z.literal("250000000") }),
  }),
})
/** A build, a deployment or a run. */
const record = z.object({ id: z.int(), status: z.string() })
export const records = z.array(record)
export const page = z.object({ title: z.string(), content: z.string() })

const claims = z.object({
  sub: z.string(),
  aud: z.string(),
  scope: z.string(),
  key_class: z.string(),
  origin: z.string().optional(),
  iat: z.int(),
  exp: z.int(),
})

/** A token's claims, unverified: it is the relay that verifies. */
export const claimsOf = (token: string): z.infer<typeof claims> =>
  claims.parse(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()))
