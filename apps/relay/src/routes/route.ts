import { validate } from "@svc/openapi"
import type { z } from "zod"
import type { BadRequestCode } from "../errors.ts"
import type { Verify } from "../wire.ts"

export type Scope = "transaction:inspect" | "transaction:send"
/** What a request counts as: its rate bucket, its places and its upstream timeout. */
export type RequestClass = "inspect" | "status" | "send"

/** What applies to the bytes of this request: the settings, lowered by the caller's token. */
export type WireRules = { readonly maxBytes: number; readonly verify: Verify }

type Shared = {
  readonly path: string
  readonly operation: string
  readonly summary: string
  readonly scope: Scope
  /** The provider's method. */
  readonly method: string
  /** Largest answer of the provider, in bytes. */
  readonly maxAnswerBytes: number
  readonly request: z.ZodType
  readonly response: z.ZodType
  /** Refusals of this route's own checks. */
  readonly codes: readonly BadRequestCode[]
}

/** A route that asks and changes nothing. */
export type ReadRoute = Shared & {
  readonly class: Exclude<RequestClass, "send">
  /** Checks a JSON body, by its schema and beyond it, and makes the call's parameters. */
  readonly prepare: (body: unknown, rules: WireRules) => readonly unknown[]
  /** Makes the answer of the provider's result; throws when that is malformed. */
  readonly read: (result: unknown) => unknown
}

/** A route that submits. Its answer is judged by send.ts: what it proves matters more than its form. */
export type SendRoute = Shared & {
  readonly class: "send"
  /** As above; with the transaction's id, derived before anybody is called. */
  readonly prepare: (body: unknown, rules: WireRules) => Promise<{ params: readonly unknown[]; signature: string }>
}

export type Route = ReadRoute | SendRoute

export const KiB = 1024

/** Makes a route that reads of its own part, which takes a valid body and says where members of a result belong. */
export const readRoute = <Body>(
  route: Omit<ReadRoute, "prepare" | "read" | "request"> & {
    readonly request: z.ZodType<Body>
    readonly prepare: (body: Body, rules: WireRules) => readonly unknown[]
    /** Puts the members of a result where the response has them. */
    readonly arrange: (result: unknown) => unknown
  },
): ReadRoute => ({
  ...route,
  prepare: (body, rules) => route.prepare(validate(route.request, body), rules),
  read: (result) => route.response.parse(route.arrange(result)),
})
