import type { Env, Hono } from "hono"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/**
 * The methods that some route serves at this path, for the `Allow` header of a 405 (RFC 9110 section 15.5.6): empty when
 * the path is unknown. Call it from the not-found handler; GET brings HEAD, and OPTIONS is always answered.
 */
export const allowedMethods = <E extends Env>(app: Hono<E>, path: string): readonly string[] => {
  const served = methods.filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
  )
  if (served.length === 0) return []
  return [...served, ...(served.includes("GET") ? ["HEAD"] : []), "OPTIONS"]
}
