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
