import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { readPageTables, startProcess } from "@svc/testing"
import { z } from "zod"
import { describe, expect, test } from "vitest"
import { settingNames } from "../../../../infra/test/settings.ts"
import { currentSurface } from "../../../../scripts/released.ts"
import platform from "../../../platform-api/openapi.json" with { type: "json" }
import relay from "../../../relay/openapi.json" with { type: "json" }
import docs from "../../openapi.json" with { type: "json" }
import { ownFacts } from "../../src/config.ts"
import { loadCorpus } from "../../src/corpus/corpus.ts"
import { tools } from "../../src/mcp/tools.ts"

const app = join(import.meta.dirname, "../..")
const root = join(app, "../..")
const content = join(app, "content")
const fill = { ...ownFacts, base_url: "http://docs.test" }
const { pages, skills, warnings } = await loadCorpus(content, { fill })
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const page = (name: string): string => readFileSync(join(content, name), "utf8")

/** The text of a page below a heading, down to the next one of that rank. */
const below = (name: string, heading: string): string => {
  const [, rest] = page(name).split(`\n## ${heading}\n`)
  if (rest === undefined) throw new Error(`${name} has no heading "${heading}"`)
  return rest.split(/\n## /)[0] ?? ""
}

/** Cells of the tables in a text, without header rows and without the marks of inline code. */
const rows = (text: string): string[][] =>
  readPageTables(text).flatMap((table) => table.rows.map((cells) => cells.map((cell) => cell.replaceAll("`", ""))))

const services = [
  { name: "Platform API", folder: "platform-api" },
  { name: "Transaction relay", folder: "relay" },
  { name: "Documentation server", folder: "docs-server" },
] as const

const errorTable = z.object({ errors: z.object({ rows: z.record(z.string(), z.object({ status: z.int() })) }) })

const { settings } = currentSurface()
/** What a service's settings are when nothing is set, by variable: infra/test/env.test.ts compares them with the code. */
const defaultsOf = (folder: string): [variable: string, value: string][] =>
  Object.entries(settings)
    // The relay's example turns it on.
    .concat([["relay SVC_TRANSACTIONS_ENABLED", "false"]])
    .flatMap(([key, value]) => (key.startsWith(`${folder} `) ? [[key.slice(folder.length + 1), value]] : []))

describe.each(services)("$name", ({ name, folder }) => {
  test("errors.md has one row for each of its codes, with the status", async () => {
    const module: unknown = await import(join(root, "apps", folder, "src/errors.ts"))
    const codes = Object.entries(errorTable.parse(module).errors.rows).map(([code, { status }]) => `${code} ${status}`)
    const told = rows(below("errors.md", name))
      .filter(([code = ""]) => /^[a-z][a-z0-9_-]+$/.test(code))
      // A code of two statuses is made with the first; the other is chosen where it is thrown.
      .map(([code, status]) => `${code} ${status?.split(", ")[0]}`)
    expect(told.toSorted()).toEqual(codes.toSorted())
  })

  test("configuration.md has every variable that it reads, and no other", async () => {
    const variables = await settingNames(folder)
    const told = (heading: string) => rows(below("configuration.md", heading)).map(([variable = ""]) => variable)
    const known = new Set([...told("Every service"), ...told(name)])
    expect(variables.filter((variable) => !known.has(variable))).toEqual([])
    expect(told(name)).toEqual(told(name).filter((variable) => variables.includes(variable)))
  })

  test("its variables are described with their defaults", () => {
    const own = new Map(rows(below("configuration.md", name)).map(([variable, value]) => [variable, value]))
    const wrong = defaultsOf(folder).flatMap(([variable, wanted]) => {
      const told = own.get(variable)
      // A path or an address depends on where the service is.
      const isTold = told === undefined || wanted === "" || /[/:]/.test(wanted) || told.split(" ")[0] === wanted
      return isTold ? [] : [`${variable}: ${told}, not ${wanted}`]
    })
    expect(wrong).toEqual([])
  })
})

test("agents.md has every documented error of a sign-up", () => {
  const described = Object.entries(platform.paths["/api/agents/signup"].post.responses)
  const codes = described.flatMap(([status, { description }]) =>
    [...description.matchAll(/^`(\S+)`:/gm)].map(([, code]) => `${status} ${code}`),
  )
  const told = rows(below("agents.md", "Sign up")).filter(([status = ""]) => /^\d+$/.test(status))
  expect(told.map(([status, code]) => `${status} ${code}`).toSorted()).toEqual(
    codes.filter((one) => !one.startsWith("500")).toSorted(),
  )
})

test("agents.md has every path for people alone and for agents, and skill.md every path that an agent can use", () => {
  type Operations = Record<string, { "x-access": { callers: string[] } }>
  const pathsOf = (isMeant: (callers: string[]) => boolean): string[] =>
    Object.entries<Operations>(platform.paths)
      .filter(([, operations]) => Object.values(operations).some((one) => isMeant(one["x-access"].callers)))
      .map(([path]) => path.replaceAll(/\{(\w+)\}/g, ":$1"))
  const forbidden = pathsOf((callers) => callers.join() === "person")
  const told = below("agents.md", "What an agent may not do")
  expect(forbidden.length).toBeGreaterThan(10)
  expect(forbidden.filter((path) => !told.includes(`${path}\``) && !path.startsWith("/api/auth/keys"))).toEqual([])
  const allowed = rows(below("agents.md", "What an agent may do")).flatMap(
    ([, where = ""]) => where.match(/\/\S+\b/g) ?? [],
  )
  const isTold = (path: string): boolean => allowed.some((one) => `${path}/`.startsWith(`${one}/`))
  const open = pathsOf((callers) => callers.includes("agent"))
  expect(open.filter((path) => !isTold(path))).toEqual([])
  const skill = below("skill.md", "Endpoints")
  const usable = pathsOf((callers) => callers.includes("agent") || callers.includes("anyone"))
  expect(usable.filter((path) => /^\/(?:api|ws)\//.test(path) && !skill.includes(`${path}\``))).toEqual([])
})

test("limits.md has the default of every setting that it names", () => {
  const defaults = new Map(services.flatMap(({ folder }) => defaultsOf(folder)))
  const named = rows(page("limits.md")).flatMap((cells) => {
    const setting = cells.find((cell) => /^SVC_[A-Z_]+$/.test(cell))
    return setting === undefined ? [] : [{ setting, told: Number.parseInt((cells[1] ?? "").replaceAll(",", ""), 10) }]
  })
  expect(named.length).toBeGreaterThan(10)
  const inSeconds = ({ setting, told }: { setting: string; told: number }) =>
    setting.endsWith("_MS") ? { setting, told: told * 1000 } : { setting, told }
  expect(named.map(inSeconds)).toEqual(named.map(({ setting }) => ({ setting, told: Number(defaults.get(setting)) })))
})

test("every path of the platform API and the relay is in the pages", () => {
  const names = "agents keys registry sessions records publishing relay limits operations skill".split(" ")
  const all = names.map((name) => page(`${name}.md`)).join("\n")
  const missing = Object.keys({ ...platform.paths, ...relay.paths })
    .map((path) => path.replaceAll(/\{(\w+)\}/g, ":$1"))
    .filter((path) => !all.includes(path) && !path.startsWith("/api/auth/keys"))
  expect(missing).toEqual([])
})

/** The codes that sources make errors with, from their text: each is thrown at one place, and a table would be a second one. */
const codesIn = (folder: string, pattern: RegExp): string[] => {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  )
  const found = files.flatMap((file) => [...read(join(folder, file)).matchAll(pattern)].map(([, code = ""]) => code))
  return [...new Set(found)].toSorted()
}

const codesOf = (heading: string): string[] =>
  rows(below("errors.md", heading))
    .map(([code = ""]) => code)
    .filter((code) => /^[a-z-]+$/.test(code))
    .toSorted()

test("records.md has the documented fields of each record, with nullable ones marked", () => {
  type Schemas = Record<string, { properties?: Record<string, { type?: unknown; description: string }> }>
  const schemas: Schemas = platform.components.schemas
  const told = rows(below("records.md", "Fields")).filter(([record = ""]) => /^[A-Z][a-z ]*$/.test(record))
  expect(told.map(([record]) => record)).toEqual([
    "Spec",
    "Spec version",
    "Build",
    "Deployment",
    "Deployment event",
    "Run",
  ])
  for (const [record = "", fields = ""] of told) {
    const name = record.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase())
    const wanted = Object.entries(schemas[name]?.properties ?? {}).map(([field, { type }]) =>
      Array.isArray(type) && type.includes("null") ? `${field}?` : field,
    )
    expect({ record, fields: fields.replaceAll(/ \([^)]*\)/g, "").split(", ") }).toEqual({ record, fields: wanted })
  }
})

test("errors.md shows every member of each service's errors", () => {
  const { schema } = relay.paths["/transactions/v1/send"].post.responses["400"].content["application/json"]
  const wanted = new Map<string, { readonly properties: object }>([
    ["Platform API", platform.components.schemas.Error],
    ["Transaction relay", schema],
    ["Documentation server", docs.components.schemas.ErrorResponse.properties.error],
  ])
  const told = rows(page("errors.md")).filter(
    ([service = "", shape = ""]) => shape.startsWith("{") && wanted.has(service),
  )
  expect(told.map(([service]) => service)).toEqual([...wanted.keys()])
  for (const [service = "", shape = ""] of told) {
    const names = [...shape.slice(0, shape.lastIndexOf("}")).matchAll(/\b([a-z]\w*)\b(?!: \{)/gi)].map(
      ([, name = ""]) => name,
    )
    expect({ service, names: names.toSorted() }).toEqual({
      service,
      names: Object.keys(wanted.get(service)?.properties ?? {}).toSorted(),
    })
  }
})

test("mcp-server.md has a section for each tool, and no other below Tools", () => {
  const told = [...below("mcp-server.md", "Tools").matchAll(/^### (.+)$/gm)].map(([, heading]) => heading)
  expect(told).toEqual(tools.map(({ name }) => name))
})

describe("command line", () => {
  test("its page has every command of svc --help, and no other", async () => {
    const { commands }: { commands: readonly { readonly name: string }[] } = await import(
      join(root, "apps/cli/src/commands.ts")
    )
    const told = rows(below("command-line.md", "Commands")).map(
      ([command = ""]) => /^svc ((?:[a-z]+ ?)*)/.exec(command)?.[1]?.trim() ?? "",
    )
    expect([...new Set(told)].filter((command) => command !== "").toSorted()).toEqual(
      commands.map(({ name }) => name).toSorted(),
    )
  })

  test("its page has every option, and no other", async () => {
    const { optionTable }: { optionTable: object } = await import(join(root, "apps/cli/src/usage/options.ts"))
    const options = Object.keys(optionTable)
    const told = new Set(page("command-line.md").match(/(?<=[` ]--)[a-z-]+/g))
    // npm's own option.
    told.delete("global")
    expect([...told].toSorted()).toEqual(options.toSorted())
  })
})

test.each([
  [
    "Command line",
    "apps/cli/src",
    /(?:(?:Cli|Tool|[nd])Error\(\s*|runError\(\w+, |asCode\()"([a-z-]+)"/g,
    // `explore` and `follow` put these together; a stack that is missing has the platform's code.
    ["entity-not-found", "build-failed", "deployment-failed"],
  ],
  ["Client library", "packages/client/src", /(?:Error|refusal)\(\s*(?:\w+, )?"([a-z-]+)"/g, []],
  [
    "Operator commands",
    "apps/platform-api/src",
    /(?:CommandError|StackConflict)\(\s*"([a-z-]+)"/g,
    codesIn("apps/platform-api/src/operator", /\bcode: "([a-z-]+)"/g),
  ],
])("errors.md has every code of its own: %s", (heading, folder, pattern, others) => {
  expect(codesOf(heading)).toEqual([...new Set([...codesIn(folder, pattern), ...others])].toSorted())
})

test("no page, skill, message or hint advises signing a payment again before its expiry is proven", () => {
  const folders = ["apps/docs-server/content", "apps/relay/src", "apps/platform-api/src", "apps/cli/src"]
  const files = [...folders, "packages/client/src"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(?:md|ts)$/.test(file) && !file.includes(".test."))
      .map((file) => join(folder, file)),
  )
  const advises =
    /\b(?:re-?sign|sign(?:s|ed|ing)?\b(?![- ]up| key)[^.|;"`]{0,40}\b(?:again|anew|another|(?:a|with a) new))\b/i
  const isSafe =
    /prove[ns]?\b|provably|only now|(?:never|not|n't|before it) sign|signing again would|attempts|then run|nothing was stored|blockhash-not-found/i
  const found = files.flatMap((file) => {
    const lines = read(file).split("\n")
    return lines.flatMap((line, index) => (advises.test(line) ? [lines.slice(index - 1, index + 2).join("\n")] : []))
  })
  expect(found.length).toBeGreaterThan(5)
  expect(found.filter((text) => !isSafe.test(text))).toEqual([])
  const texts = files.filter((file) => file.endsWith(".md")).map(read)
  expect(texts.join("\n")).not.toMatch(/not seen/)
})

test("operations.md has every operator command with its options, and no other", async () => {
  const program = startProcess(process.execPath, ["apps/platform-api/src/main.ts", "--help"], { cwd: root })
  await program.exited
  const stdout = program.stdout()
  const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]*(?: [a-z]+)?)/gm)].map(([, name = ""]) => name)
  const told = rows(below("operations.md", "Operator commands")).map(
    ([command = ""]) => /^[a-z-]+(?: [a-z]+)?/.exec(command)?.[0] ?? command,
  )
  expect(told.toSorted()).toEqual(commands.toSorted())
  const options = new Set(stdout.match(/--[a-z-]+/g))
  expect([...options].filter((option) => !page("operations.md").includes(option))).toEqual(["--version", "--help"])
})

test("files and commands of the repository that the pages name exist", () => {
  const texts = readdirSync(content, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map(page)
    .join("\n")
  const files = new Set(texts.match(/(?<=[`\s])(?:apps|packages|infra|docs|scripts)\/[\w./$-]*\w/g))
  // Made on the way: a database by the platform API, the rest by the operator.
  const made =
    /^(?:apps\/platform-api\/\.data(?:\/developer\.key)?|infra\/(?:\.env|env\/[\w-]+\.env|env\/\$app\..*|secrets(?:\/.*)?))$/
  expect([...files].filter((file) => !made.test(file) && !existsSync(join(root, file)))).toEqual([])
  const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read("package.json")))
  const commands = [...texts.matchAll(/npx -y pnpm@12 (?!exec )([a-z][\w-]*)/g)].map(([, command = ""]) => command)
  expect(commands.filter((command) => !Object.hasOwn(scripts, command))).toEqual([])
})

test("every page can be reached from the overview", () => {
  const linked = new Set(
    [...(pages.get("index")?.markdown ?? "").matchAll(/docs\.test\/([\w/-]+)\.md/g)].map(([, slug]) => slug),
  )
  // Operations are reached from their service's overview.
  const isOperation = (slug: string): boolean => /^reference\/\w+\//.test(slug)
  expect([...pages.keys()].filter((slug) => slug !== "index" && !isOperation(slug) && !linked.has(slug))).toEqual([])
})

test("no section is only a code block: search results show a sentence or a row of it", () => {
  const mute = [...pages.values()].flatMap(({ slug, markdown, sections }) =>
    sections.flatMap(({ anchor, level, start }) => {
      const end = sections.find((other) => other.start > start)?.start ?? markdown.length
      const text = markdown
        .slice(start, end)
        .replace(/^#.*\n/, "")
        .replaceAll(/^(`{3,})[^]*?^\1/gm, "")
      // A page of the reference is about one operation, and says so above.
      return level > 1 && text.trim() === "" && !slug.startsWith("reference/") ? [`${slug}#${anchor}`] : []
    }),
  )
  expect(mute).toEqual([])
})

test("every page has a title, a description and a place in the navigation; every skill has its folder's name", () => {
  expect(skills.size).toBe(readdirSync(join(content, "skills")).length)
  for (const { slug, markdown } of pages.values()) {
    const frontMatter =
      slug === "skill"
        ? /^---\nname: svc-platform\ndescription: .+\nversion: \d+\.\d+\.\d+\nsection: .+\norder: \d+\n---\n/
        : /^---\ntitle: .+\ndescription: .{40,200}\nsection: .+\norder: \d+\n(?:(?:row_anchors|search_weight|group|method|trial): .+\n)*---\n/
    expect({ slug, frontMatter: frontMatter.test(markdown) }).toEqual({ slug, frontMatter: true })
  }
  for (const { name, text, description } of skills.values()) {
    expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*$/)
    expect(description.length).toBeLessThanOrEqual(1024)
    expect(text.split("\n").length).toBeLessThan(500)
  }
  expect(warnings).toEqual([])
})
