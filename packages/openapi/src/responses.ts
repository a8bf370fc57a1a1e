import type { ErrorRow } from "@svc/errors"
import type { z } from "@hono/zod-openapi"

/** A response of a route, in JSON. */
export const json = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { "application/json": { schema } },
})

/**
 * The error responses of a route, one a status, each with the codes that can come with it. Their type is hidden: errors are
 * thrown, so a handler returns only successes.
 * @param envelope makes the service's error body for the codes of one status
 */
export const errorResponses = <Code extends string>(
  { rows }: { readonly rows: Readonly<Record<Code, ErrorRow>> },
  envelope: (codes: readonly [Code, ...Code[]]) => z.ZodType,
  ...codes: readonly Code[]
): object => {
  const byStatus = Map.groupBy(new Set(codes), (code) => rows[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      // A group has at least one member.
      json(same.map((code) => `\`${code}\`: ${rows[code].message}`).join("\n\n"), envelope(same as [Code, ...Code[]])),
    ]),
  )
}
