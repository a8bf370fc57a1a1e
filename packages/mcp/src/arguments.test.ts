import { expect, test } from "vitest"
import { z } from "zod"
import { ToolError } from "./arguments.ts"
import { defineTool } from "./tool.ts"

const value = z.union([z.string(), z.number(), z.boolean(), z.null()])
const tool = defineTool(
  {
    name: "read",
    description: "Reads.",
    annotations: {},
    aliases: { path: "stack" },
    input: z.strictObject({
      stack: z.string().min(1),
      key: z.string().optional(),
      limit: z.int().min(1).max(100).default(20).describe("at most"),
      share: z.number().optional(),
      sections: z.boolean().optional(),
      fields: z.array(z.string()).optional(),
      order: z.enum(["asc", "desc"]).optional(),
      sort: z.strictObject({ field: z.string(), order: z.enum(["asc", "desc"]).default("asc") }).optional(),
      where: z.array(z.strictObject({ field: z.string(), op: z.string(), value: value.optional() })).optional(),
    }),
    output: z.object({}),
  },
  (_: undefined, args) => args,
)
const given = { stack: "a" }
const plain = { stack: "a", limit: 20 }

const errorOf = (args: unknown) => {
  try {
    tool.read(args)
  } catch (error) {
    if (error instanceof ToolError) return [error.code, error.message, error.hint]
  }
  return undefined
}

test.each([
  [{ key: null, limit: null, share: "", sections: "null", fields: "", order: "", sort: null, where: null }, plain],
  [
    { limit: "5", share: " 0.5 ", sections: "True" },
    { ...plain, limit: 5, share: 0.5, sections: true },
  ],
  [{ fields: '["a","b"]' }, { ...plain, fields: ["a", "b"] }],
  [{ sort: '{"field":"a"}' }, { ...plain, sort: { field: "a", order: "asc" } }],
  [{ sort: [] }, plain],
  [{ sort: { field: "a", order: null } }, { ...plain, sort: { field: "a", order: "asc" } }],
  [{ where: ['{"field":"a","op":"eq","value":"5"}'] }, { ...plain, where: [{ field: "a", op: "eq", value: "5" }] }],
  [{ key: "5" }, { ...plain, key: "5" }],
  [{ key: "null" }, { ...plain, key: "null" }],
  [{ sessionId: "1bd1", action: "sendMessage", chatInput: "hi", tool: "read", toolCallId: "call_00" }, plain],
])("%j is read as %j", (args, read) => {
  expect(tool.read({ ...given, ...args })).toEqual(read)
})

test("an alias of an argument counts, unless the argument itself is present", () => {
  expect(tool.read({ path: "a" })).toEqual(plain)
  expect(tool.read({ path: "b", stack: "a" })).toEqual(plain)
  for (const stack of [null, ""]) expect(tool.read({ path: "a", stack })).toEqual(plain)
})

test.each<[unknown, string, string?]>([
  [undefined, "stack is missing."],
  [null, "stack is missing."],
  ["x", "arguments must be an object."],
  [{ stack: "" }, "stack must not be empty."],
  [{ stack: null }, "stack is missing."],
  [{ stack: 5 }, "stack must be a string."],
  [{ ...given, limit: "five" }, "limit must be a number."],
  [{ ...given, limit: "5.5" }, "limit must be an integer."],
  [{ ...given, limit: 1e30 }, "limit must be at most 100."],
  [{ ...given, limit: 101, order: "up" }, "limit must be at most 100; order must be one of asc, desc."],
  [{ ...given, fields: "a" }, 'fields must be an array, such as ["…"].'],
  [{ ...given, sort: '["a"]' }, 'sort must be an object, such as {"field":"…","order":"asc"}.'],
  [{ ...given, where: "x" }, 'where must be an array, such as [{"field":"…","op":"…","value":"…"}].'],
  [{ ...given, value: 5 }, "value isn't an argument of read."],
  [{ ...given, where: [{ op: "eq" }] }, "where[0].field is missing.", "where[0] takes field, op, value."],
  [{ ...given, limt: 5 }, "limt isn't an argument of read (did you mean limit?)."],
  [
    { ...given, where: [{ field: "a", op: "eq", valu: 1 }] },
    "where[0].valu isn't an argument of read (did you mean value?).",
    "where[0] takes field, op, value.",
  ],
  [
    { ...given, sort: { field: "a", direction: "asc" } },
    "sort.direction isn't an argument of read.",
    "sort takes field, order.",
  ],
  [{ ...given, zzzzzzzz: 5 }, "zzzzzzzz isn't an argument of read."],
])("%j is rejected in our words, with what the tool, or the member in question, accepts", (args, message, takes) => {
  const hint = takes ?? "read takes stack, key, limit, share, sections, fields, order, sort, where."
  expect(errorOf(args)).toEqual(["invalid-arguments", message, hint])
})

test("clients see what is optional, in schemas that all of them can read: each with one type, and no integer bounds", () => {
  const { required, properties = {} } = tool.listed.inputSchema
  expect(required).toEqual(["stack"])
  expect(properties["limit"]).toEqual({
    type: "integer",
    minimum: 1,
    maximum: 100,
    default: 20,
    description: "at most",
  })
  const order = { type: "string", enum: ["asc", "desc"] }
  expect(properties["order"]).toEqual(order)
  expect(properties["sort"]).toEqual({
    type: "object",
    properties: { field: { type: "string" }, order: { ...order, default: "asc" } },
    required: ["field"],
  })
  expect(JSON.stringify(tool.listed)).not.toMatch(/\$schema|additionalProperties|propertyNames|9007199254740991/)
})
