import type { Context, MiddlewareHandler } from "hono"
import type { HttpEnv } from "../request-context.ts"
import { type JsonBodyOptions, readJsonText } from "./body.ts"

const jsonType = "application/json"

/**
 * Reads a route's JSON body strictly: content type, declared length, bytes under the cap and the deadline, UTF-8, JSON, unique
 * keys, number of values. Throws BodyError. After it, `c.req.valid("json")`, `c.req.json()` and `c.req.text()` have the body.
 * @param options `limit` may depend on the request, such as on a limit of the caller's token
 */
export const jsonBody =
  ({
    limit,
    ...options
  }: Omit<JsonBodyOptions, "limit" | "onSize"> & {
    readonly limit: number | ((c: Context) => number)
    readonly onSize?: (bytes: number, c: Context) => void
  }): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    const { onSize, ...rules } = options
    const { value, text = JSON.stringify(value) } = await readJsonText(c, {
      ...rules,
      limit: typeof limit === "number" ? limit : limit(c),
      onSize: (bytes) => onSize?.(bytes, c),
    })
    // A validator reads the body from here.
    Object.assign(c.req.bodyCache, { text: Promise.resolve(text) })
    // What was checked above is accepted, even where the validator's own check of the type is narrower.
    if (c.req.header("content-type") !== jsonType) c.req.raw.headers.set("content-type", jsonType)
    await next()
  }
