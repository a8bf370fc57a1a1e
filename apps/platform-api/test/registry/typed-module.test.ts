import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { afterAll, describe, expect, test } from "vitest"
import { deriveShape, type Shape } from "../../src/registry/schema/derive-schema.ts"
import { parseAst } from "../../src/registry/ast/parse-ast.ts"
import { type Language, languages, typedModule } from "../../src/registry/types/typed-module.ts"
import { sampleStacks } from "../../stacks/index.ts"
import { hostileShape } from "./shapes.ts"
import { entity, field, sampleText, smallAst, typedAst } from "./small-ast.ts"

const folder = mkdtempSync(join(tmpdir(), "svc-types-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc")
const hasPython = process.env["CI"] === "true" || spawnSync("python3", ["--version"]).status === 0

/** What tsc says of the modules, all in one go. */
const compile = (modules: Readonly<Record<string, string>>): string => {
  const files = Object.entries(modules).map(([name, text]) => {
    const file = join(folder, `${name}.ts`)
    writeFileSync(file, text)
    return file
  })
  const options = "--ignoreConfig --noEmit --strict --target es2022 --module esnext --types"
  const args = [compiler, ...options.split(" "), "", ...files]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
  return status === 0 ? "" : stdout
}

/** Imports every module in Python, reads every annotation, and gives the members of the dictionaries with their types. */
const importAll = (modules: Readonly<Record<string, string>>): Record<string, Record<string, object>> => {
  const folderOfRun = mkdtempSync(join(folder, "python-"))
  const names = Object.keys(modules)
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folderOfRun, `${name}.py`), text)
  const program = `
import importlib, json, sys, typing
sys.path.insert(0, ${JSON.stringify(folderOfRun)})
found = {}
for name in json.loads(sys.stdin.read()):
    module = importlib.import_module(name)
    dictionaries = {k: v for k, v in vars(module).items() if typing.is_typeddict(v)}
    for dictionary in dictionaries.values(): typing.get_type_hints(dictionary)
    found[name] = {k: {m: ref.__forward_arg__ for m, ref in v.__annotations__.items()} for k, v in dictionaries.items()}
    found[name]["literals"] = {k: typing.get_args(vars(module).get(k)) for k in ("ViewId", "NeedsKey")}
    found[name]["literals"]["VIEW_KEYS"] = vars(module).get("VIEW_KEYS")
    assert not hasattr(module, "PWNED")
json.dump(found, sys.stdout)`
  return JSON.parse(execFileSync("python3", ["-c", program], { encoding: "utf8", input: JSON.stringify(names) }))
}

const shapeOf = (text: string): Shape => deriveShape(parseAst(JSON.parse(text)))
const samples = Object.fromEntries(
  sampleStacks.map(({ name }) => [name.replaceAll("-", "_"), shapeOf(sampleText(name))]),
)
const some = { name: "some-stack", version: 3 }
const modulesOf = (shapes: Readonly<Record<string, Shape>>, language: Language) =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, typedModule(shape, language, some)]))
const schemaCheck = (module: string) => new Ajv2020({ strict: true, allowUnionTypes: true }).compile(JSON.parse(module))

const hostileShapes = Object.fromEntries(
  fc.sample(hostileShape, { numRuns: 60, seed: 20261121 }).map((shape, n) => [`m${n}`, shape]),
)

describe("typed modules", () => {
  test("tsc takes the TypeScript of all sample stacks, and of stacks whose names are anything at all", () => {
    expect(compile(modulesOf({ ...samples, ...hostileShapes }, "typescript"))).toBe("")
  })

  test.skipIf(!hasPython)(
    "python3 imports all of them, and finds in each dictionary the members that the schema has",
    () => {
      const found = importAll(modulesOf({ ...samples, ...hostileShapes }, "python"))
      for (const [name, shape] of Object.entries(samples)) {
        for (const { name: entityName, fields: own } of shape.entities) {
          const tops = [...new Set(own.map(({ path }) => path.split(".")[0] ?? ""))].sort()
          expect(Object.keys(found[name]?.[entityName] ?? {}).sort()).toEqual(tops)
        }
      }
    },
  )

  test("ajv takes the JSON Schema of all of them in its strict mode", () => {
    const modules = modulesOf({ ...samples, ...hostileShapes }, "json-schema")
    for (const module of Object.values(modules)) expect(() => schemaCheck(module)).not.toThrow()
  })

  test("nothing of a stack is code or comment: outside of quotes stand ASCII letters that the module made itself", () => {
    fc.assert(
      fc.property(hostileShape, (shape) => {
        for (const language of ["typescript", "python"] as const) {
          const module = typedModule(shape, language, { name: "some-stack", version: 1 })
          expect(module).toMatch(/^[\x20-\x7e\n]*$/)
          const bare = module.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, "_")
          expect(bare).not.toContain('"')
          const [heading = "", ...rest] = bare.split("\n\n")
          expect(heading.split("\n").every((line) => /^(\/\/|#) /.test(line))).toBe(true)
          const ownComments = /^\/\*\* (What each view shows|The field whose value|The views whose)[\w ',:;]*\. \*\/$/gm
          const code = rest.join("\n\n").replaceAll(ownComments, "")
          expect(code).not.toMatch(/[#;`$\\]|\/\/|\/\*|\*\//)
          expect(code).not.toMatch(/PWNED\s*=/)
        }
      }),
    )
  })

  const things = () => {
    const fieldTypes = ["u64", "Option < i128 >", "u32", "Vec < u8 >", "Option < Vec < Kind > >", "Pubkey", "Nowhere"]
    const variants = [
      { name: "Off" },
      { name: "On", fields: [{ name: "level", type: "u8" }] },
      { name: "Two", fields: ["u64", "bool"] },
    ]
    const sections = [
      { name: "root", fields: fieldTypes.map((type, index) => field(`f${index}`, type)) },
      { name: "deep.er", fields: [field("odd name", "bool")] },
    ]
    const kind = [{ name: "Kind", type: { kind: "enum", variants } }]
    return deriveShape(parseAst({ ...typedAst("Kind", kind), entities: [entity("Thing", { sections })] }))
  }

  test("what a schema says stands in TypeScript as it should", () => {
    const types = {
      Thing:
        '{ f0: string; f1: string | null; f2: number; f3: number[]; f4: Kind[] | null; f5: string; f6: unknown; deep: { er: { "odd name": boolean } } }',
      Kind: '"Off" | { On: { level: number } } | { Two: [string, boolean] }',
      Views: '{ "Thing/state": Thing; "Thing/list": Thing[] }',
      ViewId: '"Thing/state" | "Thing/list"',
      ViewKeys: '{ "Thing/state": "id.address"; "Thing/list": "id.address" }',
      NeedsKey: '"Thing/state"',
    }
    const same = Object.entries(types).map(([name, type]) => `export const is${name}: Same<${name}, ${type}> = true`)
    const use = [
      `import type { ${Object.keys(types).join(", ")} } from "./things"`,
      "type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false",
      ...same,
    ]
    expect(compile({ ...modulesOf({ things: things() }, "typescript"), use: use.join("\n") })).toBe("")
  })

  test.skipIf(!hasPython)("what a schema says stands in Python as it should", () => {
    const modules = modulesOf({ things: things() }, "python")
    expect(modules["things"]).toContain('Kind = Union[\n    Literal["Off"],\n    "Kind_On",\n    "Kind_Two",\n]')
    expect(importAll(modules)["things"]).toEqual({
      Thing: {
        f0: "str",
        f1: "Optional[str]",
        f2: "int",
        f3: "List[int]",
        f4: "Optional[List[Kind]]",
        f5: "str",
        f6: "Any",
        deep: "Thing_deep",
      },
      Thing_deep: { er: "Thing_deep_er" },
      Thing_deep_er: { "odd name": "bool" },
      Kind_On: { On: "Kind_On_On" },
      Kind_On_On: { level: "int" },
      Kind_Two: { Two: "Tuple[str, bool]" },
      literals: {
        ViewId: ["Thing/state", "Thing/list"],
        NeedsKey: ["Thing/state"],
        VIEW_KEYS: { "Thing/state": "id.address", "Thing/list": "id.address" },
      },
    })
  })

  test("what a schema says stands in JSON Schema as it should", () => {
    const check = schemaCheck(typedModule(things(), "json-schema", some))
    const good = {
      f0: "1",
      f1: null,
      f2: 1,
      f3: [1],
      f4: ["Off", { On: { level: 1 } }, { Two: ["1", true] }],
      f5: "k",
      f6: [0],
      deep: { er: { "odd name": true } },
    }
    expect(check(good)).toBe(true)
    for (const wrong of [
      { f0: 1 },
      { f1: 1 },
      { f2: null },
      { f2: 2 ** 32 },
      { f3: "x" },
      { f4: ["On"] },
      { deep: {} },
    ]) {
      expect(check({ ...good, ...wrong })).toBe(false)
    }
    const { f1: _, ...missing } = good
    expect(check(missing)).toBe(false)
  })

  test("a stack of thousands of types with one name is written as quickly as any", () => {
    // Names that differ, and as identifiers are all the same.
    const types = Array.from({ length: 20_000 }, (_, n) => ({
      name: "é" + String(n).replaceAll(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit))),
      kind: "struct" as const,
      fields: [],
    }))
    const shape = { ...deriveShape(parseAst(smallAst())), types }
    for (const language of languages)
      expect(typedModule(shape, language, { name: "s", version: 1 }).length).toBeGreaterThan(20_000)
  })
})
