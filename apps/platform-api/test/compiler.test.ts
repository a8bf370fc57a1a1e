import { gzipSync } from "node:zlib"
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest"
import { CompilerBusy, createCompiler, type Owner } from "../src/compiler/compiler.ts"
import { readUpload } from "../src/compiler/tasks.ts"
import type { Ast } from "../src/registry/ast/ast-shape.ts"
import { contentHash, parseAst } from "../src/registry/ast/parse-ast.ts"
import { AstTooLarge } from "../src/registry/ast/document-fault.ts"
import { field, thing, withFields } from "./registry/small-ast.ts"

const now = () => performance.now()
const owner = (name: string): Owner => ({ name, group: name })

let compiler: ReturnType<typeof createCompiler>
beforeEach(() => void (compiler = createCompiler({ deadlineMs: 60_000, now })))
afterEach(() => compiler.close())

const bodyOf = (ast_payload: unknown) => Uint8Array.from(Buffer.from(JSON.stringify({ name: "a", ast_payload })))
const fields = Array.from({ length: 3000 }, (_, n) => field(`f${n}`, "u64"))
const large = bodyOf(withFields(fields))
const size = large.length

test("the thread's results are the same as without a thread", async () => {
  expect(size).toBeGreaterThan(8 * 1024)
  expect(await compiler.run("readUpload", large, { size, owner: owner("a") })).toEqual(readUpload(large))
})

test("the event loop keeps running while a large AST is read", async () => {
  let turns = 0
  const turn = setInterval(() => turns++, 1)
  const hasTurned = () => turns > 0
  // Work on the loop would let no timer through, however often. A machine that is busy may let none through once.
  for (let n = 0; n < 20 && !hasTurned(); n++) await compiler.run("readUpload", large, { size, owner: owner("a") })
  clearInterval(turn)
  expect(turns).toBeGreaterThan(0)
})

test("a task that takes too long ends with its thread; the next one gets a new thread", async () => {
  const { run, close } = createCompiler({ deadlineMs: 1, now })
  onTestFinished(close)
  const both = [1, 2].map(() => run("readUpload", large, { size, owner: owner("a") }))
  for (const result of await Promise.allSettled(both)) {
    expect(result.status === "rejected" && result.reason).toBeInstanceOf(AstTooLarge)
  }
})

test("a bug fails only its own task", async () => {
  const broken = { gzip: Uint8Array.from(gzipSync("{")), isAnswer: false }
  const task = compiler.run("check", { ast: broken, hash: "" }, { size, owner: owner("a") })
  await expect(task).rejects.toThrow("JSON")
  expect(await compiler.run("readUpload", large, { size, owner: owner("a") })).toHaveProperty("hash")
})

const begin = (one: Owner, ended: string[], signal?: AbortSignal) =>
  compiler
    .run("readUpload", large, { size, owner: one, signal })
    .then(() => ended.push(one.name))
    .catch((error: unknown) => {
      if (!(error instanceof CompilerBusy)) throw error
      ended.push(`${one.name} ${error.isOwn}`)
    })

test("the cheapest owner so far is next; tasks waiting per owner and in all are limited", async () => {
  const ended: string[] = []
  await Promise.all(["a", "a", "a", "b", "a", "a", "a"].map((name) => begin(owner(name), ended)))
  expect(ended).toEqual(["a true", "a", "b", "a", "a", "a", "a"])
  ended.length = 0
  await Promise.all(Array.from({ length: 40 }, (_, n) => begin(owner(String(n)), ended)))
  expect(ended.filter((one) => one.endsWith("false"))).toHaveLength(7)
})

test("nine agents that fill the queue make room for a person, and their costs count as one owner's", async () => {
  const ended: string[] = []
  const agents = Array.from({ length: 9 }, (_, n) => ({ name: `agent ${n}`, group: "agents" }))
  const flood = agents.flatMap((agent) => Array.from({ length: 4 }, () => begin(agent, ended)))
  // One is being worked on, 32 wait, three found no place.
  const person = begin(owner("person"), ended)
  await person
  expect(ended.filter((one) => one.endsWith(" false"))).toHaveLength(4)
  expect(ended.filter((one) => /^agent \d$/.test(one))).toHaveLength(1)
  expect(ended.at(-1)).toBe("person")
  await Promise.all(flood)
})

test("work that nobody waits for isn't started, or is stopped", async () => {
  const ended: string[] = []
  const gone = new AbortController()
  const tasks = ["a", "b"].map((name) => begin(owner(name), ended, gone.signal))
  const last = begin(owner("c"), ended)
  gone.abort()
  await Promise.all([...tasks, last])
  expect(ended).toContain("b true")
  expect(ended.at(-1)).toBe("c")
})

test("a stored AST with operators that are rejected today can still be built", async () => {
  const ast = thing({ computed_field_specs: [{ expression: { Unary: { op: "Odd" } } }] }) as Ast
  expect(() => parseAst(ast)).toThrow("must be an operator")
  const stored = { gzip: Uint8Array.from(gzipSync(JSON.stringify(ast))), isAnswer: false }
  const task = compiler.run("check", { ast: stored, hash: contentHash(ast) }, { size, owner: owner("a") })
  expect(await task).toEqual({ isSame: true })
})
