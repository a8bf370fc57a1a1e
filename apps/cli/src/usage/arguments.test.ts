import fc from "fast-check"
import { expect, test } from "vitest"
import { readArguments, wantsJson } from "./arguments.ts"
import { commands } from "../commands.ts"
import { CliError } from "../errors.ts"
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
      wantsJson(argv)
      try {
        const call = readArguments(argv, commands)
        if (call.kind !== "run") return
        const { command, args, options, flags } = call
        expect(args.length).toBeGreaterThanOrEqual(command.least)
        expect(args.length).toBeLessThanOrEqual(command.most)
        const allowed = new Set<string>([...command.options, ...commonOptions])
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
  expect(helpText(["keys", "list"], nested)).toMatch(/^svc keys list:/)
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
