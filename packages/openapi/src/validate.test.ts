import { BodyError } from "@svc/errors"
import { expect, test } from "vitest"
import { validate, z } from "./index.ts"

test("the first failure is named by its path, an unknown key by its own", () => {
  const schema = z.strictObject({ a: z.array(z.strictObject({ b: z.string() })), c: z.number().optional() })
  const faultOf = (value: unknown) => {
    try {
      validate(schema, value)
    } catch (error) {
      if (error instanceof BodyError) return error.fault
    }
    throw new Error("not refused")
  }
  expect(faultOf({ a: [{ b: "x" }, { b: 7 }] })).toMatchObject({ kind: "invalid", path: "a[1].b" })
  expect(faultOf({ a: [], extra: 1 })).toMatchObject({ path: "extra", reason: "is not a known field" })
  expect(faultOf([])).toMatchObject({ path: "" })
  expect(validate(schema, { a: [] })).toEqual({ a: [] })
})
