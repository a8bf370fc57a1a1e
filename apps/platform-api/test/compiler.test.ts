import { gzipSync } from "node:zlib"
import { afterEach, expect, test } from "vitest"
import { CompilerBusy, createCompiler } from "../src/compiler/compiler.ts"
import { readUpload } from "../src/compiler/read-upload.ts"
import type { Ast } from "../src/registry/ast/ast-shape.ts"
import { contentHash } from "../src/registry/ast/content-hash.ts"
import { parseAst } from "../src/registry/ast/parse-ast.ts"
import { AstTooLarge } from "../src/registry/ast/document-fault.ts"
import { field, thing, withFields } from "./registry/small-ast.ts"

let compiler: ReturnType<typeof createCompiler>
afterEach(() => compiler.close())

const bodyOf = (ast_payload: unknown) => Uint8Array.from(Buffer.from(JSON.stringify({ name: "a", ast_payload })))
const fields = Array.from({ length: 3000 }, (_, n) => field(`f${n}`, "u64"))
const large = bodyOf(withFields(fields))
const size = large.length

test("what is made on the thread is what would be made at once", async () => {
  compiler = createCompiler({ deadlineMs: 60_000 })
  expect(size).toBeGreaterThan(8 * 1024)
  expect(await compiler.run("readUpload", large, { size, owner: "a" })).toEqual(readUpload(large))
})

test("the event loop goes on while a large AST is read", async () => {
  compiler = createCompiler({ deadlineMs: 60_000 })
  let turns = 0
  const turn = setInterval(() => turns++, 1)
  const hasTurned = () => turns > 0
  // Work on the loop would let no timer through, however often. A machine that is busy may let none through once.
  for (let n = 0; n < 20 && !hasTurned(); n++) await compiler.run("readUpload", large, { size, owner: "a" })
  clearInterval(turn)
  expect(turns).toBeGreaterThan(0)
})

test("a task that takes too long is given up with its thread; the next one has a thread of its own", async () => {
  compiler = createCompiler({ deadlineMs: 1 })
  const both = [1, 2].map(() => compiler.run("readUpload", large, { size, owner: "a" }))
  for (const result of await Promise.allSettled(both)) {
    expect(result.status === "rejected" && result.reason).toBeInstanceOf(AstTooLarge)
  }
})

test("a fault of ours fails its task alone", async () => {
  compiler = createCompiler({ deadlineMs: 60_000 })
  const broken = { gzip: Uint8Array.from(gzipSync("{")), isAnswer: false }
  const task = compiler.run("check", { ast: broken, hash: "" }, { size, owner: "a" })
  await expect(task).rejects.toThrow("JSON")
  expect(await compiler.run("readUpload", large, { size, owner: "a" })).toHaveProperty("hash")
})

test("owners take turns; one has few tasks waiting, and all together not many", async () => {
  compiler = createCompiler({ deadlineMs: 60_000 })
  const ended: string[] = []
  const begin = (owner: string) =>
    compiler
      .run("readUpload", large, { size, owner })
      .then(() => ended.push(owner))
      .catch((error: unknown) => {
        if (!(error instanceof CompilerBusy)) throw error
        ended.push(`${owner} ${error.isOwn}`)
      })
  const tasks = ["a", "a", "a", "b", "a", "a", "a"].map(begin)
  await Promise.all(tasks)
  expect(ended).toEqual(["a true", "a", "a", "b", "a", "a", "a"])
  ended.length = 0
  await Promise.all(Array.from({ length: 40 }, (_, n) => begin(String(n))))
  expect(ended.filter((one) => one.endsWith("false"))).toHaveLength(7)
})

test("a stored AST whose operators are rejected today is built all the same", async () => {
  compiler = createCompiler({ deadlineMs: 60_000 })
  const ast = thing({ computed_field_specs: [{ expression: { Unary: { op: "Odd" } } }] }) as Ast
  expect(() => parseAst(ast)).toThrow("must be an operator")
  const stored = { gzip: Uint8Array.from(gzipSync(JSON.stringify(ast))), isAnswer: false }
  const task = compiler.run("check", { ast: stored, hash: contentHash(ast) }, { size, owner: "a" })
  expect(await task).toEqual({ isSame: true })
})
