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

test("unset and empty variables get the default", () => {
  const fields = {
    port: integer("PORT", 4001, { min: 0, max: 65_535 }),
    name: text("NAME", "svc"),
    note: text("NOTE", undefined),
  }
  expect(loadConfig(fields, { PORT: "", NAME: "x", NOTE: "  " })).toEqual({ port: 4001, name: "x", note: undefined })
})

test("settings that belong together form a group, at any depth", () => {
  const fields = { limits: { perMinute: { send: integer("SEND", 60, { min: 0 }) }, prefix: text("PREFIX", "svc") } }
  expect(loadConfig(fields, { SEND: "7" })).toEqual({ limits: { perMinute: { send: 7 }, prefix: "svc" } })
  expect(problemsOf(() => loadConfig(fields, { SEND: "x" }))).toEqual([expect.stringMatching(/^SEND: /)])
})

test("every problem is listed at once, and no secret's value is printed", () => {
  const problems = problemsOf(() =>
    loadConfig(
      {
        a: integer("A", 1, { min: 0 }),
        b: flag("B", false),
        c: url("C", undefined),
        d: cidrs("D"),
        e: oneOf("E", "x", ["x", "y"]),
        token: secret("TOKEN"),
      },
      { A: "1.5", B: "yes", C: "ftp://example.org", D: "10.0.0.0/8, nonsense, 10.0.0.0/33", E: "z", TOKEN: "hunter2" },
    ),
  )
  expect(problems.map((problem) => problem.slice(0, 2))).toEqual(["A:", "B:", "C:", "D:", "D:", "E:"])
  expect(problems.join()).not.toContain("hunter2")
})

test("a comment after a value is never part of it", () => {
  const fields = {
    a: integer("A", 1, { min: 0 }),
    b: flag("B", false),
    c: url("C", undefined, { credentials: true }),
    d: text("D", undefined),
    e: secret("E"),
    f: list("F"),
  }
  const env = {
    A: "5 # a",
    B: "true # b",
    C: "http://localhost #",
    D: "/var/lib/svc\t# data",
    E: "x # y",
    F: "a, b # c",
  }
  const reason = "must have its comment on another line"
  expect(problemsOf(() => loadConfig(fields, env))).toEqual(Object.keys(env).map((name) => `${name}: ${reason}`))
  expect(loadConfig(fields, { C: "http://localhost/#a", D: "Team #1" })).toMatchObject({ d: "Team #1" })
})

test("a URL contains no white space, and reserved characters in a password must be percent-encoded", () => {
  const fields = { database: url("DATABASE_URL", undefined, { protocols: ["postgres:"], credentials: true }) }
  const wrong = (value: string) => problemsOf(() => loadConfig(fields, { DATABASE_URL: value }))
  expect(wrong("postgres://me:word@host/da ta")).toEqual(["DATABASE_URL: must not contain white space"])
  for (const password of ["a/b", "a#b", "a?b", "12x/34", "/", "?", "p@s/s", "p@s?s", "p@s#s", "p@@/s", "p@s/s?s"]) {
    const [problem, ...others] = wrong(`postgres://me:${password}@host:5432/svc`)
    expect([password, problem, others]).toEqual([password, expect.stringContaining("percent-encoded (%2F"), []])
  }
  expect(wrong("postgres://me:begin")).toEqual([expect.stringContaining("%23")])
  for (const value of [
    "postgres://me:a%2Fb@host/svc?application_name=a@b",
    "postgres://me:p@s@host/svc?application_name=a@b",
    "postgres://me:p@host/svc?application_name=a@b",
    "postgres://host:5432/s@c",
    "postgres://host:5432",
    "postgres://[::1]:5432/svc",
    "postgres://me@host/a@b",
  ]) {
    expect(loadConfig(fields, { DATABASE_URL: value })).toEqual({ database: value })
  }
})

test("a URL with several hosts or none is reported as such, and a problem that two checks find is reported once", () => {
  const database = url("DATABASE_URL", undefined, { protocols: ["postgres:"], credentials: true })
  const twice = () => ["A: x", "A: x"]
  const problems = problemsOf(() => loadConfig({ database }, { DATABASE_URL: "postgres://a:b@h:1,i:2/d" }, twice))
  expect(problems).toEqual([
    "DATABASE_URL: isn't a valid URL: correct its host, which can be one only, and its port",
    "A: x",
  ])
  // libpq takes the folder of a socket so.
  expect(
    problemsOf(() => loadConfig({ database }, { DATABASE_URL: "postgres://a:b@/d?host=/run/postgresql" })),
  ).toEqual(["DATABASE_URL: has no host: write localhost after the @, which a socket's folder in ?host= replaces"])
})

test("quotes that a file of variables kept as a part of a value are found, and others belong to it", () => {
  const fields = { a: list("A"), b: text("B", ""), c: integer("C", 1, { min: 0 }), d: url("D", undefined) }
  const env = { A: '"transfers"', B: "'production'", C: '"1"', D: '"http://localhost"' }
  expect(problemsOf(() => loadConfig(fields, env))).toEqual(
    Object.keys(env).map((name) => `${name}: must have no quotes around its value`),
  )
  expect(loadConfig(fields, { B: 'The "new" site' }).b).toBe('The "new" site')
})

test("contradictory settings are rejected with the caller's message", () => {
  const check = () => ["USAGE_TOKEN: is required when USAGE_ENABLED is true"]
  expect(problemsOf(() => loadConfig({ usageEnabled: flag("USAGE_ENABLED", true) }, {}, check))).toEqual(check())
})

test("missing combinations are listed with each setting's errors, unless they are the same fault", () => {
  const fields = { port: integer("PORT", 1, { min: 0 }), address: url("URL", undefined), use: flag("USE", false) }
  const check = ({ use, address }: { use: boolean; address: string | undefined }, unusable: ReadonlySet<string>) =>
    use && address === undefined && !unusable.has("URL") ? ["URL: is required when USE is true"] : []
  expect(problemsOf(() => loadConfig(fields, { PORT: "x", USE: "true" }, check))).toHaveLength(2)
  expect(problemsOf(() => loadConfig(fields, { URL: "x", USE: "true" }, check))).toHaveLength(1)
})

test("`exact` keeps a URL's trailing slash; otherwise it is removed", () => {
  const fields = { exact: url("EXACT", undefined, { exact: true }), base: url("BASE", undefined) }
  const written = "https://example.org/a/"
  expect(loadConfig(fields, { EXACT: written, BASE: written })).toEqual({ exact: written, base: written.slice(0, -1) })
})

test("a URL has both slashes, and one that paths are appended to has no query or fragment", () => {
  const bad = [
    "http:example.org",
    "http:/example.org",
    "https://example.org?a=1",
    "https://example.org/#a",
    "https://h/?",
  ]
  const base = url("BASE", undefined)
  for (const value of bad) expect(problemsOf(() => loadConfig({ base }, { BASE: value }))).toHaveLength(1)
  const exact = "HTTPS://example.org/?a=1#b"
  expect(loadConfig({ u: url("EXACT", undefined, { exact: true }) }, { EXACT: exact }).u).toBe(exact)
  const database = "postgres://u:p@h/db?sslmode=require"
  const protocols = ["postgres:"]
  const db = url("DB", undefined, { protocols, credentials: true })
  expect(loadConfig({ db }, { DB: database }).db).toBe(database)
})

test("a user and password in a URL are rejected if nothing uses them, and never printed", () => {
  const given = { PLAIN: "http://user:hunter2@h/", OPEN: "http://user:100%25@h/", ODD: "http://u:100%@h/" }
  const open = (variable: string) => url(variable, undefined, { credentials: true })
  expect(loadConfig({ open: open("OPEN") }, given).open).toBe("http://user:100%25@h")
  const problems = problemsOf(() => loadConfig({ plain: url("PLAIN", undefined), odd: open("ODD") }, given))
  expect(problems).toEqual([
    "PLAIN: must not contain a user or password",
    "ODD: holds a user or password whose % is not percent-encoded",
  ])
})

test("flags are read in any case", () => {
  for (const word of ["true", "TRUE", "1"]) expect(loadConfig({ f: flag("F", false) }, { F: word }).f).toBe(true)
  for (const word of ["false", "False", "0"]) expect(loadConfig({ f: flag("F", true) }, { F: word }).f).toBe(false)
})

test("an integer outside its bounds, or too large to be exact, is rejected", () => {
  const fields = { n: integer("N", 5, { min: 0 }) }
  expect(loadConfig(fields, { N: "0" }).n).toBe(0)
  for (const bad of ["-1", "9007199254740993", "1e3", "0x10", "1 000"]) {
    expect(problemsOf(() => loadConfig(fields, { N: bad }))).toHaveLength(1)
  }
})

test("a list drops its empty words", () => {
  expect(loadConfig({ l: list("L") }, { L: "a, ,b," }).l).toEqual(["a", "b"])
})

test("networks are canonical: host bits cleared, a bare address is one host, IPv4-mapped IPv6 is IPv4", () => {
  const read = (value: string) => loadConfig({ c: cidrs("C") }, { C: value }).c
  expect(read("10.1.2.3/8, 192.0.2.7, FD00:0::1/8, ::ffff:10.0.0.1/104")).toEqual([
    { address: "10.0.0.0", prefix: 8, family: "ipv4" },
    { address: "192.0.2.7", prefix: 32, family: "ipv4" },
    { address: "fd00::", prefix: 8, family: "ipv6" },
    { address: "10.0.0.0", prefix: 8, family: "ipv4" },
  ])
  expect(read("")).toEqual([])
})

test("no text makes a field throw anything but a ConfigError", () => {
  const fields = { a: integer("A", 1, { min: 0 }), b: flag("B", false), c: url("C", undefined), d: cidrs("D") }
  const anyCharacter = fc.nat(0xffff).map((code) => String.fromCharCode(code))
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (value) => {
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
