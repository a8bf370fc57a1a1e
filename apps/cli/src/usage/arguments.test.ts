import { stripVTControlCharacters } from "node:util"
import fc from "fast-check"
import { expect, test } from "vitest"
import { commandGroups, commands } from "../commands.ts"
import { CliError } from "../errors.ts"
import { formatOf } from "../output/format.ts"
import { styleOf } from "../output/style.ts"
import { argumentCount, findCommand, readArguments } from "./arguments.ts"
import { helpText } from "./help.ts"
import { commonOptions, isOptionName, optionTable } from "./options.ts"

const words = fc.constantFrom(
  ...commands.flatMap(({ name }) => name.split(" ")),
  ...Object.keys(optionTable).map((name) => `--${name}`),
  "--",
  "-",
  "-h",
  "-xyz",
  "--name=",
  "--json=1",
  "__proto__",
  "--__proto__",
  "--constructor",
  "--no-json",
)

test("any arguments whatever are a call that fits its command, a question for help, or a usage error", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 8 }), (argv) => {
      formatOf(argv)
      try {
        const call = readArguments(argv, commands)
        if (call.kind !== "run") return
        const { command, args, options, flags } = call
        const { least, most } = argumentCount(command)
        expect(args.length).toBeGreaterThanOrEqual(least)
        expect(args.length).toBeLessThanOrEqual(most)
        const allowed = new Set<string>([...(command.options ?? []), ...commonOptions])
        for (const name of [...Object.keys(options), ...flags])
          expect(allowed.has(name) && isOptionName(name)).toBe(true)
        for (const value of Object.values(options)) expect(value).not.toBe("")
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        expect(error.code).toBe("usage")
        expect(error.next).toMatch(/--help$/)
      }
    }),
  )
})

test("of two commands that begin with the same words the one that more words name is run and explained", () => {
  const [first, ...rest] = commands
  if (first === undefined) throw new Error("no command")
  const nested = [{ ...first, name: "keys" }, ...rest]
  expect(readArguments(["keys", "list"], nested)).toMatchObject({ kind: "run", command: { name: "keys list" } })
  expect(readArguments(["keys", "other"], nested)).toMatchObject({ kind: "run", command: { name: "keys" } })
  expect(findCommand(["keys", "list"], nested)?.name).toBe("keys list")
})

test("options mean the same wherever among the words they stand", () => {
  const options = ["--name", "a b", "--json", "--api-url=https://a.example"]
  const [before, between, after] = [
    [...options, "keys", "mint"],
    ["keys", ...options, "mint"],
    ["keys", "mint", ...options],
  ].map((argv) => readArguments(argv, commands))
  expect(before).toMatchObject({ kind: "run", options: { name: "a b", "api-url": "https://a.example" } })
  expect(between).toEqual(before)
  expect(after).toEqual(before)
})

test.each([
  ["", 0, 0],
  ["STACK", 1, 1],
  ["STACK [VIEW]", 1, 2],
  ["[STACK [ENTITY]]", 0, 2],
  ["STACK…", 1, 100],
  ["[FILE|-]", 0, 1],
  ["[[ACTION] ID]", 0, 2],
  ["< KEY-FILE", 0, 0],
])("the usage %j takes %d to %d arguments", (usage, least, most) => {
  const [first] = commands
  if (first === undefined) throw new Error("no command")
  expect(argumentCount({ ...first, usage })).toEqual({ least, most })
})

test("--version N is --at N for a command that reads a version, and nothing else elsewhere", () => {
  const options = { at: "2" }
  for (const given of [["--version", "2"], ["--version=2"], ["--at", "2"]]) {
    expect(readArguments(["explore", "a", ...given], commands)).toMatchObject({ kind: "run", options, args: ["a"] })
  }
  expect(() => readArguments(["explore", "a", "--version"], commands)).toThrow(/--at needs a value/)
  expect(() => readArguments(["watch", "a", "--version", "2"], commands)).toThrow(/no option --version/)
  expect(readArguments(["--version"], commands)).toEqual({ kind: "version" })
})

test("no line of any help is longer than the terminal, and a pipe gets 100 columns", () => {
  const widths = [
    [60, 60],
    [80, 80],
    [140, 100],
    [undefined, 100],
  ] as const
  for (const [columns, most] of widths) {
    for (const command of [[], ["keys"], ...commands.map(({ name }) => name.split(" "))]) {
      const text = helpText(command, commandGroups, styleOf({}, columns !== undefined, columns))
      // An example is copied, so it stays in one piece.
      const lines = text.split("\n").filter((line) => !line.includes("  svc ") && !line.includes("\u001b[36msvc"))
      const widest = Math.max(...lines.map((line) => stripVTControlCharacters(line).length))
      expect(widest, command.join(" ")).toBeLessThanOrEqual(most)
    }
  }
})

test("every option is one that some command takes", () => {
  const taken = new Set([...commands.flatMap(({ options = [] }) => options), ...commonOptions, "version"])
  expect(Object.keys(optionTable).filter((name) => !taken.has(name))).toEqual([])
})
