import { gzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { AstTooLarge } from "../../src/registry/ast/document-fault.ts"
import { createNeeds, Needed } from "../../src/work/queue/worker.ts"
import { entity, field, smallAst, typedAst } from "../registry/small-ast.ts"
import { beforeTests, testService } from "../service.ts"
import { newPerson } from "./person.ts"

const service = testService("postgres")
const person = beforeTests(() => newPerson(service))

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const zeros = times(200_000, () => 0)
const ofFields = (fields: readonly unknown[]) =>
  smallAst({ entities: [entity("Thing", { sections: [{ name: "root", fields }] })] })
const ofMembers = (fields: readonly unknown[]) => typedAst("T", [{ name: "T", type: { kind: "struct", fields } }])

/** Uploads a small body that is large unpacked. */
const upload = async (name: string, ast_payload: unknown, more: object = {}) => {
  const raw = Uint8Array.from(gzipSync(JSON.stringify({ name, ast_payload, ...more })))
  const headers = { "content-type": "application/json", "content-encoding": "gzip" }
  return service.call("POST", "/api/specs", { key: person.key, raw, headers })
}

const firstField = "entities[0].sections[0].fields[0]"
test.each([
  ["fields that are numbers", ofFields(zeros), firstField],
  ["fields that are empty", ofFields(times(100_000, () => ({}))), `${firstField}.field_name`],
  ["IDL fields that are no types", ofMembers(zeros), "idls[0].types[0].type.fields[0]"],
  ["program ids that are numbers", smallAst({ program_ids: zeros }), "program_ids[0]"],
  [
    "paths of too many parts",
    ofFields(times(5_000, (n) => field(`${"a.".repeat(20)}${n}`, "u8"))),
    `${firstField}.field_name`,
  ],
])("%s are reported as at most 20 faults", async (_, ast, path) => {
  const { status, body } = await upload("faulty", ast)
  expect([status, body.code, body.details.path]).toEqual([400, "invalid-request", `ast_payload.${path}`])
  expect(body.details.faults.length).toBeLessThanOrEqual(20)
})

test("a body of a million elements is rejected before any is read", async () => {
  const { status, body } = await upload("many", Array(1_000_000).fill(0))
  expect([status, body.details.reason]).toEqual([400, "must have at most 250000 members and elements"])
})

test("a field that isn't an AST may have as many elements as in any other body", async () => {
  const { status, body } = await upload("shared", smallAst(), { shared_with: times(200_000, () => 0) })
  expect([status, body.details.reason]).toEqual([
    400,
    "must have at most 1000 members and elements outside ast_payload",
  ])
})

test("an AST whose schema would be far larger than itself is rejected, with its path", async () => {
  const fields = times(12_000, (n) => field(`f${n}`, "u8"))
  const ast = smallAst({ entities: [entity("Thing", { sections: [{ name: "ж".repeat(250), fields }] })] })
  const { status, body } = await upload("large", ast)
  expect([status, body.code, body.details]).toEqual([
    400,
    "invalid-ast",
    { path: "ast_payload.entities[0].sections[0]", reason: "makes a schema of more than 4 MiB" },
  ])
})

test("work that took too long once is tried again the next time", async () => {
  const need = createNeeds<{ readonly done: boolean }>()
  let isBusy = true
  const make = async () => {
    if (isBusy) throw new AstTooLarge([], "takes too much work")
    return { done: true }
  }
  const attempt = async (): Promise<unknown> => {
    try {
      return need("a version", make)
    } catch (error) {
      if (!(error instanceof Needed)) return error
      await error.make()
      return attempt()
    }
  }
  expect(await attempt()).toBeInstanceOf(AstTooLarge)
  isBusy = false
  expect(await attempt()).toEqual({ done: true })
})
