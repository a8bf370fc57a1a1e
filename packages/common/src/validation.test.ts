import { expect, test } from "vitest"
import { z } from "zod"
import { firstFailure, inOwnWords } from "./validation.ts"

test("the first failure has its path, and an unknown key its own", () => {
  const schema = z.strictObject({ a: z.array(z.strictObject({ b: z.string() })), c: z.number().optional() })
  const failureOf = (value: unknown) => firstFailure(z.safeParse(schema, value, inOwnWords).error ?? new z.ZodError([]))
  expect(failureOf({ a: [{ b: "x" }, { b: 7 }] })).toEqual({ path: "a[1].b", reason: "must be a string" })
  expect(failureOf({ a: [], extra: 1 })).toEqual({
    path: "extra",
    reason: expect.stringMatching(/^is not a known field; the known fields are /),
  })
  expect(failureOf([])).toEqual({ path: "", reason: "must be an object" })
  const none = z.safeParse(z.strictObject({}), { x: 1 }, inOwnWords).error
  expect(none && firstFailure(none)).toEqual({ path: "x", reason: "is not a known field; there are none" })
})
