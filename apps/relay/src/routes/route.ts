import type { OpenAPIHono } from "@svc/openapi"
import type { RelayScope } from "@svc/session-token"
import type { z } from "zod"
import type { BadRequestCode } from "../errors.ts"
import type { Relay, RelayEnv } from "../relay.ts"

/** The class of a request, which decides its rate bucket, its places and its upstream timeout. */
export type RequestClass = "inspect" | "status" | "send"

/** The definition of a route to the provider. */
export type Definition = {
  readonly path: `/transactions/v1/${string}`
  readonly operation: string
  readonly summary: string
  readonly scope: RelayScope
  readonly class: RequestClass
  /** The provider's method. */
  readonly method: string
  /** Maximum size of the provider's response, in bytes. */
  readonly maxResponseBytes: number
  readonly request: z.ZodObject
  readonly response: z.ZodObject
  /** Error codes of this route's checks. */
  readonly codes: readonly BadRequestCode[]
}

export type RelayApp = OpenAPIHono<RelayEnv>

export type Route = Definition & {
  /** Registers the route with its description. */
  readonly register: (app: RelayApp, relay: Relay) => void
}

export const KiB = 1024

/**
 * Makes a route that reads from the provider.
 * @param params checks the request, and makes the parameters of the provider's method
 * @param arrange makes the response's members from the provider's result
 */
export const readRoute = <const D extends Definition>(
  definition: D,
  params: (body: z.output<D["request"]>, rules: ReturnType<Relay["rules"]>) => readonly unknown[],
  arrange: (result: unknown) => unknown,
): Route => ({
  ...definition,
  register: (app, relay) => {
    app.openapi(relay.route<Definition>(definition), async (c) => {
      const body = c.req.valid("json") as z.output<D["request"]>
      return c.json(await relay.read<Definition>(c, definition, params(body, relay.rules(c)), arrange), 200)
    })
  },
})
