import { inspect } from "node:util"
import fc from "fast-check"
import { expect, test } from "vitest"
import { ConfigError, cidrs, flag, integer, list, loadConfig, oneOf, Secret, secret, text, url } from "./index.ts"

const problemsOf = (run: () => unknown): readonly string[] => {
  try {
    run()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
  }
  throw new Error("no ConfigError was thrown")
}

test("unset and empty variables take the default, or are reported when they have none", () => {
  const fields = {
    PORT: integer({ default: 4001, min: 0, max: 65535 }),
    NAME: text(),
    NOTE: text({ default: undefined }),
  }
  expect(loadConfig(fields, { PORT: "", NAME: "x", NOTE: "  " })).toEqual({ PORT: 4001, NAME: "x", NOTE: undefined })
  expect(problemsOf(() => loadConfig(fields, { NAME: " " }))).toEqual(["NAME: is required"])
})

test("every problem is listed at once, and no secret's value is printed", () => {
  const problems = problemsOf(() =>
    loadConfig(
      {
        A: integer({ default: 1, min: 0 }),
        B: flag(false),
        C: url(),
        D: cidrs(),
        E: oneOf(["x", "y"], "x"),
        TOKEN: secret(),
      },
      { A: "1.5", B: "yes", C: "ftp://example.org", D: "10.0.0.0/8, nonsense, 10.0.0.0/33", E: "z", TOKEN: "hunter2" },
    ),
  )
  expect(problems.map((problem) => problem.slice(0, 2))).toEqual(["A:", "B:", "C:", "D:", "D:", "E:"])
  expect(problems.join()).not.toContain("hunter2")
})

test("settings that contradict each other are refused with the caller's words", () => {
  const check = () => ["USAGE_TOKEN: is required when USAGE_ENABLED is true"]
  expect(problemsOf(() => loadConfig({ USAGE_ENABLED: flag(true) }, {}, check))).toEqual(check())
})

test("what settings lack together is listed beside what is wrong with each, unless it is the same fault", () => {
  const fields = { PORT: integer({ default: 1, min: 0 }), URL: url({ default: undefined }), USE: flag(false) }
  const check = ({ USE, URL }: { USE: boolean; URL: string | undefined }, unusable: ReadonlySet<string>) =>
    USE && URL === undefined && !unusable.has("URL") ? ["URL: is required when USE is true"] : []
  expect(problemsOf(() => loadConfig(fields, { PORT: "x", USE: "true" }, check))).toHaveLength(2)
  expect(problemsOf(() => loadConfig(fields, { URL: "x", USE: "true" }, check))).toHaveLength(1)
})

test("an exact URL keeps its trailing slash, another loses it", () => {
  const fields = { EXACT: url({ exact: true }), BASE: url() }
  const written = "https://example.org/a/"
  expect(loadConfig(fields, { EXACT: written, BASE: written })).toEqual({ EXACT: written, BASE: written.slice(0, -1) })
})

test("a URL is written with both slashes, and one that paths are appended to has no query and no fragment", () => {
  const bad = [
    "http:example.org",
    "http:/example.org",
    "https://example.org?a=1",
    "https://example.org/#a",
    "https://h/?",
  ]
  for (const value of bad) expect(problemsOf(() => loadConfig({ BASE: url() }, { BASE: value }))).toHaveLength(1)
  const exact = "HTTPS://example.org/?a=1#b"
  expect(loadConfig({ EXACT: url({ exact: true }) }, { EXACT: exact }).EXACT).toBe(exact)
  const database = "postgres://u:p@h/db?sslmode=require"
  const protocols = ["postgres:"]
  expect(loadConfig({ DB: url({ protocols, credentials: true }) }, { DB: database }).DB).toBe(database)
})

test("a user and password in a URL are refused where nobody would use them, and never shown", () => {
  const given = { PLAIN: "http://user:hunter2@h/", OPEN: "http://user:100%25@h/", ODD: "http://u:100%@h/" }
  expect(loadConfig({ OPEN: url({ credentials: true }) }, given).OPEN).toBe("http://user:100%25@h")
  const problems = problemsOf(() => loadConfig({ PLAIN: url(), ODD: url({ credentials: true }) }, given))
  expect(problems).toEqual([
    "PLAIN: must hold no user and no password",
    "ODD: holds a user or password whose % is not percent-encoded",
  ])
})

test("flags are read in any case", () => {
  for (const word of ["true", "TRUE", "1"]) expect(loadConfig({ F: flag(false) }, { F: word }).F).toBe(true)
  for (const word of ["false", "False", "0"]) expect(loadConfig({ F: flag(true) }, { F: word }).F).toBe(false)
})

test("an integer outside its bounds, or too large to be exact, is refused", () => {
  const fields = { N: integer({ default: 5, min: 0 }) }
  expect(loadConfig(fields, { N: "0" }).N).toBe(0)
  for (const bad of ["-1", "9007199254740993", "1e3", "0x10", "1 000"]) {
    expect(problemsOf(() => loadConfig(fields, { N: bad }))).toHaveLength(1)
  }
})

test("a URL loses its trailing slash, a list its empty words", () => {
  expect(loadConfig({ U: url(), L: list() }, { U: "https://example.org/x/", L: "a, ,b," })).toEqual({
    U: "https://example.org/x",
    L: ["a", "b"],
  })
})

test("networks are canonical: host bits cleared, a bare address is one host, IPv4-mapped IPv6 is IPv4", () => {
  const read = (value: string) => loadConfig({ C: cidrs() }, { C: value }).C
  expect(read("10.1.2.3/8, 192.0.2.7, FD00:0::1/8, ::ffff:10.0.0.1/104")).toEqual([
    { address: "10.0.0.0", prefix: 8, family: "ipv4" },
    { address: "192.0.2.7", prefix: 32, family: "ipv4" },
    { address: "fd00::", prefix: 8, family: "ipv6" },
    { address: "10.0.0.0", prefix: 8, family: "ipv4" },
  ])
  expect(read("")).toEqual([])
})

test("no text makes a field throw anything but a ConfigError", () => {
  const fields = { A: integer({ default: 1, min: 0 }), B: flag(false), C: url({ default: undefined }), D: cidrs() }
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (value) => {
      try {
        loadConfig(fields, { A: value, B: value, C: value, D: value })
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
      }
    }),
  )
})

test("a secret prints as [secret] in every way", () => {
  const held = new Secret("hunter2")
  expect(held.reveal()).toBe("hunter2")
  expect([String(held), JSON.stringify({ held }), inspect({ held }, { depth: 9 })].join()).not.toContain("hunter2")
})
