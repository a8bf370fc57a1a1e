import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { folderOfFile } from "../../../../test/folder-of-file.ts"
import { deriveShape, type Shape } from "../../src/registry/schema/derive-schema.ts"
import { parseAst } from "../../src/registry/ast/parse-ast.ts"
import { type Language, languages, typedModule } from "../../src/registry/types/typed-module.ts"
import { sampleStacks } from "../../stacks/index.ts"
import { hostileShape } from "./shapes.ts"
import { entity, field, sampleText, smallAst, typedAst } from "./small-ast.ts"

const folder = folderOfFile()
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc")

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
  // Says what is wrong with modules. A language that has no tool here doesn't compile.
  const faultsIn = {
    typescript: compile,
    "json-schema": (modules) => {
      for (const module of Object.values(modules)) schemaCheck(module)
      return ""
    },
  } satisfies Record<Language, (modules: Readonly<Record<string, string>>) => string>

  test.each(languages)(
    "the tools of %s accept the types of sample stacks, and of stacks with any names",
    (language) => {
      expect(faultsIn[language](modulesOf({ ...samples, ...hostileShapes }, language))).toBe("")
    },
  )

  test("no name in a JSON Schema steers a terminal", () => {
    fc.assert(
      fc.property(hostileShape, (shape) => {
        expect(typedModule(shape, "json-schema", some)).not.toMatch(/(?!\n)\p{Cc}|[\u200b\u2028-\u202e\u2066-\u2069]/u)
      }),
    )
  })

  test("no text of a stack becomes code or a comment in TypeScript: names are quoted or ASCII identifiers", () => {
    fc.assert(
      fc.property(hostileShape, (shape) => {
        const module = typedModule(shape, "typescript", { name: "some-stack", version: 1 })
        expect(module).toMatch(/^[\x20-\x7e\n]*$/)
        const bare = module.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, "_")
        expect(bare).not.toContain('"')
        const [heading = "", ...rest] = bare.split("\n\n")
        expect(heading.split("\n").every((line) => line.startsWith("// "))).toBe(true)
        const ownComments = /^\/\*\* (What each view shows|The field whose value|The views whose)[\w ',:;]*\. \*\/$/gm
        const code = rest.join("\n\n").replaceAll(ownComments, "")
        expect(code).not.toMatch(/[#;`$\\]|\/\/|\/\*|\*\//)
        expect(code).not.toMatch(/PWNED\s*=/)
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

  test("the TypeScript module says what the schema says", () => {
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

  test("the JSON Schema says what the schema says", () => {
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

  test("a stack with thousands of types of one name is generated as quickly as any other", () => {
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
