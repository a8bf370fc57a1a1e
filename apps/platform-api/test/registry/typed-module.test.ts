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

/** Imports every module in Python, reads every annotation, and gives what the dictionaries hold. */
const importAll = (modules: Readonly<Record<string, string>>): Record<string, Record<string, string[]>> => {
  const folderOfRun = mkdtempSync(join(folder, "python-"))
  const names = Object.keys(modules)
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folderOfRun, `${name}.py`), text)
  const program = `
import importlib, json, sys, typing
sys.path.insert(0, ${JSON.stringify(folderOfRun)})
found = {}
for name in json.loads(sys.stdin.read()):
    module = importlib.import_module(name)
    found[name] = {k: sorted(typing.get_type_hints(v)) for k, v in vars(module).items() if typing.is_typeddict(v)}
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
          expect(found[name]?.[entityName]).toEqual(tops)
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

  test("what a schema says stands in each language as that language has it", () => {
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
    const ast = { ...typedAst("Kind", kind), entities: [entity("Thing", { sections })] }
    const shape = deriveShape(parseAst(ast))
    const make = (language: Language) => typedModule(shape, language, { name: "things", version: 7 })
    expect(make("typescript").split("\n").slice(4).join("\n")).toMatchInlineSnapshot(`
      "export interface Thing {
        f0: string
        f1: string | null
        f2: number
        f3: number[]
        f4: Kind[] | null
        f5: string
        f6: unknown
        deep: {
          er: {
            "odd name": boolean
          }
        }
      }

      export type Kind =
        | "Off"
        | { On: {
            level: number
          } }
        | { Two: [string, boolean] }

      /** What each view shows, by its id: a list of entities; or one, or one for each key. */
      export interface Views {
        "Thing/state": Thing
        "Thing/list": Thing[]
      }

      export type ViewId =
        | "Thing/state"
        | "Thing/list"

      /** The field whose value is a record's key, by the view's id; null if several fields are. */
      export interface ViewKeys {
        "Thing/state": "id.address"
        "Thing/list": "id.address"
      }

      /** The views whose subscriptions must have a key. */
      export type NeedsKey =
        | "Thing/state"
      "
    `)
    expect(make("python").split("\n").slice(4).join("\n")).toMatchInlineSnapshot(`
      "from typing import Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union

      Thing_deep_er = TypedDict("Thing_deep_er", {
          "odd name": "bool",
      })

      Thing_deep = TypedDict("Thing_deep", {
          "er": "Thing_deep_er",
      })

      Thing = TypedDict("Thing", {
          "f0": "str",
          "f1": "Optional[str]",
          "f2": "int",
          "f3": "List[int]",
          "f4": "Optional[List[Kind]]",
          "f5": "str",
          "f6": "Any",
          "deep": "Thing_deep",
      })

      Kind_On_On = TypedDict("Kind_On_On", {
          "level": "int",
      })

      Kind_On = TypedDict("Kind_On", {
          "On": "Kind_On_On",
      })

      Kind_Two = TypedDict("Kind_Two", {
          "Two": "Tuple[str, bool]",
      })

      Kind = Union[
          Literal["Off"],
          "Kind_On",
          "Kind_Two",
      ]

      ViewId = Literal[
          "Thing/state",
          "Thing/list",
      ]

      VIEW_KEYS: Dict[str, Optional[str]] = {
          "Thing/state": "id.address",
          "Thing/list": "id.address",
      }

      NeedsKey = Literal[
          "Thing/state",
      ]
      "
    `)
    const check = schemaCheck(make("json-schema"))
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
