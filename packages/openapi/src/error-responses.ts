import type { ErrorCatalog } from "@svc/errors"
import type { z } from "@hono/zod-openapi"

type ErrorResponse = {
  readonly description: string
  readonly content: { readonly "application/json": { readonly schema: z.ZodType } }
}

/**
 * The error answers of a route, one a status, each with the codes that can come with it.
 * @param envelope makes the service's error body for the codes of one status
 */
export const errorResponses = <Code extends string>(
  catalog: ErrorCatalog<Code>,
  envelope: (codes: readonly [Code, ...Code[]]) => z.ZodType,
  ...codes: readonly Code[]
): Record<number, ErrorResponse> => {
  const byStatus = Map.groupBy(new Set(codes), (code) => catalog.rows[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      {
        description: same.map((code) => `\`${code}\`: ${catalog.rows[code].message}`).join("\n\n"),
        // A group has at least one member.
        content: { "application/json": { schema: envelope(same as [Code, ...Code[]]) } },
      },
    ]),
  )
}
