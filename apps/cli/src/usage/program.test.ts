import { stripVTControlCharacters } from "node:util"
import fc from "fast-check"
import { expect, test } from "vitest"
import { commands } from "../commands.ts"
import { CliError } from "../errors.ts"
import { formatOf } from "../output/format.ts"
import { styleOf } from "../output/style.ts"
import { commonOptions, optionTable } from "./options.ts"
import { readCall } from "./program.ts"

/** What the arguments call, and what was written instead. */
const read = (argv: readonly string[], style = styleOf({}, false, undefined)) => {
  let written = ""
  const write = (text: string) => void (written += text)
  const call = readCall({ argv, version: "1", style, write })
  return { call, written }
}

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

test("any arguments are a valid call, a request for help, or a usage error", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 8 }), (argv) => {
      formatOf(argv)
      try {
        const { call, written } = read(argv)
        if (call === undefined) {
          expect(written).not.toBe("")
          return
        }
        const { command, args, options, flags } = call
        const { usage = "" } = command
        expect(args.length).toBeGreaterThanOrEqual(usage.split("<").length - 1)
        if (!usage.includes("...")) expect(args.length).toBeLessThanOrEqual(usage.split(" ").length)
        const allowed = new Set<string>([...(command.options ?? []), ...commonOptions])
        for (const name of [...Object.keys(options), ...flags])
          expect(allowed.has(name) && Object.hasOwn(optionTable, name)).toBe(true)
        for (const value of Object.values(options)) expect(value).not.toBe("")
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        expect(error.code).toBe("usage")
        expect(error.next).toMatch(/--help$/)
      }
    }),
  )
})

test("global options may stand anywhere among the words, and after -- nothing is one", () => {
  const options = ["--json", "--api-url=https://a.example"]
  const [before, between, after] = [
    [...options, "keys", "mint"],
    ["keys", ...options, "mint"],
    ["keys", "mint", ...options],
  ].map((argv) => read(argv).call)
  expect(before).toMatchObject({ command: { name: "keys mint" }, options: { "api-url": "https://a.example" } })
  expect(before?.flags).toEqual(new Set(["json"]))
  expect([between, after]).toEqual([before, before])
  const rest = ["explore", "--", "--json"]
  expect([formatOf(rest), read(rest).call]).toMatchObject(["text", { args: ["--json"], flags: new Set() }])
})

test("--version N means --at N only for commands that read a version", () => {
  for (const given of [["--version", "2"], ["--version=2"], ["--at", "2"]]) {
    expect(read(["explore", "a", ...given]).call).toMatchObject({ options: { at: "2" }, args: ["a"] })
  }
  expect(() => read(["explore", "a", "--version"])).toThrow(/--version <N>' argument missing/)
  expect(() => read(["watch", "a", "--version", "2"])).toThrow(/nknown option '--version'/)
  expect(read(["--version"]).written).toBe("1\n")
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
      const { written } = read([...command, "--help"], styleOf({}, columns !== undefined, columns))
      // An example is copied, so it stays in one piece.
      const lines = written.split("\n").filter((line) => !line.includes("  svc ") && !line.includes("\u001b[36msvc"))
      const widest = Math.max(...lines.map((line) => stripVTControlCharacters(line).length))
      expect(widest, command.join(" ")).toBeLessThanOrEqual(most)
    }
  }
})

test("every command has help with usage, options and examples, and a group's lists its own", () => {
  for (const { name, usage = "", options = [] } of commands) {
    const { written } = read([...name.split(" "), "--help"])
    expect(written).toContain(`Usage: svc ${name} ${usage} [OPTIONS]`.replace("  ", " "))
    for (const option of [...options, "json"]) expect(written).toContain(`--${option}`)
    expect(written).toContain("Examples:\n  svc ")
  }
  const group = read(["auth", "--help"]).written
  expect(group.match(/(?<=^ {2})auth \w+/gm)).toEqual(["auth signup", "auth login", "auth status", "auth logout"])
})

test("every option belongs to a command", () => {
  const taken = new Set([...commands.flatMap(({ options = [] }) => options), ...commonOptions, "version"])
  expect(Object.keys(optionTable).filter((name) => !taken.has(name))).toEqual([])
})
