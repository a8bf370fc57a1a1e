import type { OpenAPIHono } from "@svc/openapi"
import type { z } from "zod"
import type { BadRequestCode } from "../errors.ts"
import type { Relay, RelayEnv } from "../relay.ts"

export type Scope = "transaction:inspect" | "transaction:send"
/** What a request counts as: its rate bucket, its places and its upstream timeout. */
export type RequestClass = "inspect" | "status" | "send"

/** What is the same for every route to the provider. */
export type Definition = {
  readonly path: `/transactions/v1/${string}`
  readonly operation: string
  readonly summary: string
  readonly scope: Scope
  readonly class: RequestClass
  /** The provider's method. */
  readonly method: string
  /** Largest answer of the provider, in bytes. */
  readonly maxAnswerBytes: number
  readonly request: z.ZodObject
  readonly response: z.ZodObject
  /** Refusals of this route's own checks. */
  readonly codes: readonly BadRequestCode[]
}

export type RelayApp = OpenAPIHono<RelayEnv>

export type Route = Definition & {
  /** Serves the route, and describes it. */
  readonly register: (app: RelayApp, relay: Relay) => void
}

export const KiB = 1024
