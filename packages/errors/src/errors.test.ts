import { expect, test } from "vitest"
import { ApiError, defineErrors } from "./index.ts"

const errors = defineErrors({
  "not-found": { status: 404, message: "Nothing is here.", hint: "See /openapi.json." },
  busy: { status: 503, message: "Busy.", retryable: true },
})

test("an error has its row's status, text and advice", () => {
  const error = errors.fail("not-found")
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({
    code: "not-found",
    status: 404,
    message: "Nothing is here.",
    hint: "See /openapi.json.",
  })
  expect(error.retryable).toBeUndefined()
})

test("one occurrence may add its own text and details, never another status", () => {
  const error = errors.fail("busy", { message: "Full.", retryAfterSeconds: 3, details: { limit: 1 } })
  expect(error).toMatchObject({ status: 503, message: "Full.", retryable: true, retryAfterSeconds: 3 })
  expect(error.details).toEqual({ limit: 1 })
})

test("a code outside the table is rejected by the types and at run time", () => {
  // @ts-expect-error: the table has no such row
  expect(() => errors.fail("nonsense")).toThrow(TypeError)
})

test("the cause is kept for the log, and is never part of a response", () => {
  const cause = new Error("password=hunter2")
  const error = errors.fail("busy", { cause })
  expect(error.cause).toBe(cause)
  expect(JSON.stringify([error, error.message])).not.toContain("hunter2")
})
