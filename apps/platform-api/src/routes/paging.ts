import { z } from "@svc/openapi"
import type { Context } from "hono"
import type { Told } from "./create-route.ts"

const within = (min: number, max: number, fallback: number) => {
  const reason = `must be an integer from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,7}$/, reason)
    .transform(Number)
    .refine((value) => value >= min && value <= max, reason)
    .default(fallback)
    .meta({ type: "integer", minimum: min, maximum: max, default: fallback })
}

export const pageQuery = z.object({ limit: within(1, 100, 50), offset: within(0, 1_000_000, 0) })

/** Told of routes that call `nextLink`. */
export const paged: Told = { sets: { Link: (status) => status === 200 } }

export type Page = z.infer<typeof pageQuery>

/**
 * The `Link` header of a page that isn't the last one (RFC 8288). Other query parameters stay.
 * @param shown the number of items on the page: a page can end early because of its size
 */
export const nextLink = (c: Context, { limit, offset }: Page, shown: number = limit): string => {
  const url = new URL(c.req.url)
  url.searchParams.set("limit", String(limit))
  url.searchParams.set("offset", String(offset + shown))
  return `<${url.pathname}${url.search}>; rel="next"`
}
