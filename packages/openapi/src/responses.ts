import type { ErrorRow } from "@svc/errors"
import type { z } from "@hono/zod-openapi"

/** A response of a route, in JSON. */
export const json = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { "application/json": { schema } },
})

type JsonResponse<Schema extends z.ZodType> = ReturnType<typeof json<Schema>>

/**
 * The error responses of a route, one a status, each with the codes that can come with it.
 * @param envelope makes the service's error body for the codes of one status
 */
export const errorResponses = <
  Code extends string,
  Rows extends Readonly<Record<Code, ErrorRow>>,
  Body extends z.ZodType,
>(
  { rows }: { readonly rows: Rows },
  envelope: (codes: readonly [Code, ...Code[]]) => Body,
  ...codes: readonly Code[]
): { [Status in Rows[Code]["status"]]: JsonResponse<Body> } => {
  const byStatus = Map.groupBy(new Set(codes), (code) => rows[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      // A group has at least one member.
      json(same.map((code) => `\`${code}\`: ${rows[code].message}`).join("\n\n"), envelope(same as [Code, ...Code[]])),
    ]),
  ) as { [Status in Rows[Code]["status"]]: JsonResponse<Body> }
}
