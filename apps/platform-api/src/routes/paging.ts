import { z } from "@svc/openapi"
import type { Context } from "hono"
import type { AppEnv } from "../auth/guard.ts"
import type { HeaderDocs } from "./create-route.ts"

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

/** For routes that call `nextLink`. */
export const paged: HeaderDocs = { sets: { Link: (status) => status === 200 } }

export type Page = z.infer<typeof pageQuery>

/** A path of this API as callers reach it: a proxy may serve the API below the path of SVC_API_URL. */
export const reachedPath = (c: Context<AppEnv>, path: string): string =>
  new URL(c.get("dependencies").publicUrl).pathname.replace(/\/$/, "") + path

/**
 * The `Link` header of a page that isn't the last one (RFC 8288). Other query parameters stay.
 * @param shown the number of items on the page: a page can end early because of its size
 */
export const nextLink = (c: Context<AppEnv>, { limit, offset }: Page, shown: number = limit): string => {
  const url = new URL(c.req.url)
  url.searchParams.set("limit", String(limit))
  url.searchParams.set("offset", String(offset + shown))
  return `<${reachedPath(c, url.pathname)}${url.search}>; rel="next"`
}
