import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { sessionLifetimeSeconds } from "@svc/session-token"
import { expect, test } from "vitest"
import facts from "../apps/docs-server/facts.json" with { type: "json" }
import { originsPerKey } from "../apps/platform-api/src/db/schema/index.ts"
import { routes } from "../apps/relay/src/routes/table.ts"
import { services } from "../infra/services.ts"
import { requestIdHeader } from "../packages/http/src/index.ts"
import { makeFacts } from "../scripts/facts.ts"

const root = join(import.meta.dirname, "..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n")
const prose = tracked.filter((file) => file.endsWith(".md") && !file.includes("/reference/"))
const served = prose.filter((file) => file.startsWith("apps/docs-server/content/"))

test("every name in braces that a page uses is a fact or a URL", () => {
  const known = new Set([...Object.keys(facts), "base_url", "api_url", "relay_url", "stream_url", "chain_url"])
  const unknown = served.flatMap((file) =>
    [...read(file).matchAll(/(?<![$/])\{([a-z]+(?:_[a-z]+)+)\}/g)]
      .filter(([, name = ""]) => !known.has(name))
      .map(([text]) => `${file}: ${text}`),
  )
  expect(unknown).toEqual([])
})

const words = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
const numberOf = (text: string): number =>
  words.includes(text.toLowerCase()) ? words.indexOf(text.toLowerCase()) : Number(text.replaceAll(/[_,]/g, ""))

const minutes = sessionLifetimeSeconds / 60
const number = String.raw`(\d[\d,_]*|one|two|three|four|five|six|ten)`
/** How sentences say a number of the code. The pages that are served leave it to the build, other texts are compared. */
const sayings: readonly (readonly [what: string, pattern: RegExp, value: number])[] = [
  ["the life of session tokens", new RegExp(`${number}[- ]minute (?:session )?(?:token|JWT)`, "gi"), minutes],
  [
    "the life of session tokens",
    new RegExp(`tokens?\\b[^.|;]{0,50}? (?:for|of|lives?|at most) (?:the )?(?:last )?${number} minutes`, "gi"),
    minutes,
  ],
  ["the life of session tokens", new RegExp(`tokens' ${number} minutes`, "gi"), minutes],
  ["the life of session tokens", /(\d+) seconds after minting/g, sessionLifetimeSeconds],
  ["the life of session tokens", /`exp` − `iat` is (\d+)/g, sessionLifetimeSeconds],
  ["the life of session tokens", /usualLifeMs = ([\d_]+)/g, sessionLifetimeSeconds * 1000],
  ["the wait before a rollback", new RegExp(`wait ${number} minutes[:,] (?:the tokens|then take)`, "gi"), minutes + 1],
  ["the oldest Node", /Node (\d+)(?: or newer| and browsers)/g, Number(facts.oldest_node)],
  ["sign-ups an hour", new RegExp(`${number} sign-ups an hour`, "gi"), Number(makeFacts().sign_ups_per_hour)],
]
const saying = prose.concat(tracked.filter((file) => /^packages\/client\/src\/.*\.ts$|^infra\/.*\.yaml$/.test(file)))

test("pages contain no handwritten numbers of the code, and other texts have the right ones", () => {
  const wrong = saying.flatMap((file) => {
    const text = read(file).replaceAll(/\s+/g, " ")
    return sayings.flatMap(([what, pattern, value]) =>
      [...text.matchAll(pattern)]
        .filter(([, said = ""]) => served.includes(file) || numberOf(said) !== value)
        .map(([sentence]) => `${file}: "${sentence}": ${what}, ${value}`),
    )
  })
  expect(wrong).toEqual([])
})

test.each(["docs-server", "relay", "platform-api"])("the document of %s says which X-Request-Id is kept", (app) => {
  const described: unknown[] = []
  JSON.parse(read(`apps/${app}/openapi.json`), (key, value: object) => {
    if (key === "X-Request-Id" && !("$ref" in value)) described.push(value)
    return value
  })
  expect(described.length).toBeGreaterThan(0)
  for (const header of described) expect(header).toEqual(requestIdHeader)
})

test("each port of a service in a text is its default", () => {
  const ports = new Set(services.map(({ defaultPort }) => String(defaultPort)))
  const texts = tracked.filter((file) => /\.(?:md|ya?ml|cfg|conf|example)$|Caddyfile$/.test(file))
  const wrong = texts.flatMap((file) =>
    (read(file).match(/\b400[1-9]\b/g) ?? []).filter((port) => !ports.has(port)).map((port) => `${file}: ${port}`),
  )
  expect(wrong).toEqual([])
})

test("configuration.md has the variable of each port under `pnpm start`", () => {
  const page = read("apps/docs-server/content/configuration.md")
  const rows = services.map(({ portVariable, defaultPort }) => `| \`${portVariable}\` | \`${defaultPort}\` |`)
  expect(rows.filter((row) => !page.includes(row))).toEqual([])
})

test("texts that say how many origins a publishable key has are right", () => {
  const files = tracked.filter((file) => /^apps\/(?:docs-server\/content|platform-api\/src|cli\/src)\//.test(file))
  const wrong = files.flatMap((file) =>
    [...read(file).matchAll(new RegExp(`.{0,60}(?<!workers of )\\b${number} origins?\\b`, "gi"))]
      .filter(([, said = ""]) => numberOf(said) !== originsPerKey)
      .map(([sentence]) => `${file}: ${sentence}`),
  )
  expect(wrong).toEqual([])
})

test("a text that names several routes of a class names all of them", () => {
  const classes = Map.groupBy(routes, (route) => route.class)
  const told = prose.filter((file) => !/docs\/(?:decisions|benchmarks)/.test(file))
  const forgotten = told.flatMap((file) =>
    read(file)
      .split(/\n(?=\n|[|#-])/)
      .flatMap((text) =>
        [...classes.values()].flatMap((ofClass) => {
          const names = ofClass.map(({ path }) => path.split("/").at(-1) ?? "")
          const missing = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
          const either = names.join("|")
          const isList = new RegExp(`\\b(?:${either})\`?,? (?:and )?\`?(?:${either})\\b`).test(text)
          return isList && missing.length > 0 ? [`${file} lacks ${missing.join(", ")}: ${text.trim()}`] : []
        }),
      ),
  )
  expect(forgotten).toEqual([])
})

test.each(["docs-server", "relay", "platform-api"])("every setting of %s is used outside of its config.ts", (app) => {
  const folder = `apps/${app}/src/`
  const config = read(`${folder}config.ts`)
  const [, fields = ""] = config.split("\nconst fields = {")
  const [table = "", ...rest] = fields.split("\n}\n")
  const settings = [...table.matchAll(/^ +(\w+): (?!\{)\w+\(/gm)].map(([, name = ""]) => name)
  const sources = tracked.filter(
    (file) => file.startsWith(folder) && file.endsWith(".ts") && !file.endsWith("/config.ts"),
  )
  const text = sources.map(read).concat(rest).join("\n")
  expect(settings.length).toBeGreaterThan(5)
  expect(settings.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
})

test("every SVC_ variable that a text names is read by the code, or set where the text says; command-line.md names those of the tool", () => {
  const isText = (file: string): boolean =>
    /\.(?:mdx?|ya?ml|example|cfg|conf|json)$|^infra\/(?:Caddyfile|Dockerfile)$/.test(file) &&
    !file.endsWith("openapi.json")
  const isCode = (file: string): boolean => /\.(?:ts|sh)$|^\.ci\/run$/.test(file) && !/\.test\.ts$|\/test\//.test(file)
  const texts = tracked.filter(isText).map((file) => ({ file, text: read(file) }))
  // What compose and Caddy fill in stands in their files.
  const filledIn = texts.flatMap(({ text }) => text.match(/\$\{SVC_\w+|\{\$SVC_\w+/g) ?? [])
  const inCode = tracked.filter(isCode).flatMap((file) => read(file).match(/\bSVC_[A-Z0-9_]+/g) ?? [])
  const named = filledIn.map((name) => name.replace(/^\W*/, ""))
  // The last one is told as what is never read.
  const known = new Set([...inCode, ...named, "SVC_READ_RPC_URL"])
  const isKnown = (name: string): boolean =>
    known.has(name) || (name.endsWith("_") && [...known].some((one) => one.startsWith(name)))
  const unknown = texts.flatMap(({ file, text }) =>
    [...new Set(text.match(/\bSVC_[A-Z0-9_]+/g))].filter((name) => !isKnown(name)).map((name) => `${file}: ${name}`),
  )
  expect(unknown).toEqual([])
  const ofTool = tracked.filter((file) => file.startsWith("apps/cli/src/") && isCode(file)).map(read)
  const page = read("apps/docs-server/content/command-line.md")
  expect(ofTool.flatMap((text) => text.match(/\bSVC_[A-Z_]+/g) ?? []).filter((name) => !page.includes(name))).toEqual(
    [],
  )
})

test("the pages that code links to exist", () => {
  const code = tracked.filter((file) => /^(?:apps|packages)\/[\w-]+\/(?:src|browser)\/.*\.tsx?$/.test(file)).map(read)
  const linked = code.flatMap((text) => [...text.matchAll(/rl\}\/([\w-]+\.md)/g)].map(([, name = ""]) => name))
  expect(linked.length).toBeGreaterThan(3)
  expect(linked.filter((name) => !served.includes(`apps/docs-server/content/${name}`))).toEqual([])
})

/** Texts that name several MCP tools, but not all of them. */
const incomplete = (names: readonly string[]): string[] => {
  const either = names.join("|")
  const list = new RegExp(`\\b(?:${either})\\b(?:[\`", ]+(?:and )?[\`"]?\\b(?:${either})\\b)+`, "g")
  const texts = tracked.filter((file) => /\.(?:md|ts)$/.test(file) && !/CHANGELOG|docs\/decisions|fuzz-/.test(file))
  return texts.flatMap((file) =>
    (read(file).match(list) ?? []).filter((found) => names.some((name) => !found.includes(name))).map(() => file),
  )
}

test("a text that names several MCP tools names all of them", () => {
  const names = makeFacts().mcp_tools.replaceAll("`", "").split(", ")
  expect(incomplete(names)).toEqual([])
  const forgotten = incomplete([...names, "third_tool"])
  for (const file of ["README.md", "apps/docs-server/README.md", "apps/docs-server/src/errors.ts"])
    expect(forgotten).toContain(file)
})
