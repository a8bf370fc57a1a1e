import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { loadCorpus } from "../../src/corpus/corpus.ts"
import { type Step, stepsOf } from "../../test/content/steps.ts"
import {
  type Example,
  type Operation,
  type Service,
  openApiDocument,
  operationPage,
  operationsOf,
  overviewPage,
  referencePage,
} from "./operation-page.ts"

const app = join(import.meta.dirname, "../..")
const content = join(app, "content")
const referenceFolder = join(content, "reference")

const services: readonly Service[] = [
  { name: "platform", app: "platform-api", title: "Platform API", short: "platform", url: "{api_url}", order: 100 },
  { name: "relay", app: "relay", title: "Transaction relay", short: "relay", url: "{relay_url}", order: 200 },
  {
    name: "docs",
    app: "docs-server",
    title: "Documentation server",
    short: "documentation",
    url: "{base_url}",
    order: 300,
  },
]

const exampleOf = ({ command, answer }: Step): Example => ({ command: command.text, answer: answer.text })

type Shown = Example & { readonly guide: string; readonly method: string; readonly url: string }

// Their examples also show the earlier call that created what they return.
const precededBy: Readonly<Record<string, string>> = { "get-profile": "sign-up", "signature-status": "send" }

/** The exchanges that the guides show, which the tests of the pages run. */
const shownExchanges = async (): Promise<Shown[]> => {
  // getting-started.md is one script: its answers are those of a program.
  const guides = (await readdir(content)).filter((file) => file.endsWith(".md") && file !== "getting-started.md").sort()
  const texts = await Promise.all(
    guides.map(async (guide) => ({ guide, text: await readFile(join(content, guide), "utf8") })),
  )
  return texts.flatMap(({ guide, text }) =>
    stepsOf(text)
      .map(exampleOf)
      .filter(({ command, answer }) => command.startsWith("curl ") && answer.startsWith("HTTP/1.1 2"))
      .map(({ command, answer }) => ({
        guide,
        command,
        answer,
        method: /\s-X (\w+)/.exec(command)?.[1] ?? (/\s--json\b/.test(command) ? "POST" : "GET"),
        url: /\{(?:api|relay|base)_url\}[^\s"'?]*/.exec(command)?.[0] ?? "",
      })),
  )
}

// Each example runs on its own, so readers must already have a value for every placeholder in it.
const given = new Set(["API_KEY", "TOKEN", "TRANSACTION", "MESSAGE", "SIGNATURE", "ADDRESS", "PUBLISHABLE_KEY"])
const standsAlone = ({ command }: Shown): boolean =>
  [...command.matchAll(/\$(\w+)/g)].every(([, name = ""]) => given.has(name)) && !/<[A-Z_]+>/.test(command)

const matches = (url: string, template: string): boolean => {
  const parts = template.split("/").map((part) => (part.startsWith("{") ? "[^/]+" : RegExp.escape(part)))
  return new RegExp(`^${parts.join("/")}$`).test(url)
}

/** The exchanges of operations that no guide shows, by service and operation. */
const ownExamples = async (service: string): Promise<ReadonlyMap<string, Example[]>> => {
  const text = await readFile(join(import.meta.dirname, "examples", `${service}.md`), "utf8")
  const parts = text.split(/^## (?=[\w-]+$)/m).slice(1)
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")), stepsOf(part).map(exampleOf)]))
}

/** The first exchange of a guide that shows an operation, with the one before it that it needs. */
const examplesOf = (
  shown: readonly Shown[],
  { url }: Service,
  operations: readonly Operation[],
  wanted: Operation,
): Example[] => {
  // A path without a placeholder is its own operation's: `/registry/changes` is no stack's name.
  const bySpecificity = operations.toSorted((a, b) => a.path.split("{").length - b.path.split("{").length)
  const shows = (each: Shown, one: Operation): boolean =>
    each.url.startsWith(url) &&
    one ===
      bySpecificity.find(({ method, path }) => each.method === method && matches(each.url.slice(url.length), path))
  const own = shown.find((each) => shows(each, wanted) && standsAlone(each))
  if (own === undefined) return []
  const earlier = operations.find(({ id }) => id === precededBy[wanted.id])
  const before = shown
    .slice(0, shown.indexOf(own))
    .findLast((each) => each.guide === own.guide && earlier !== undefined && shows(each, earlier))
  return before === undefined ? [own] : [before, own]
}

/** Every page of the reference by its path in the folder, made from the three committed OpenAPI documents. */
const referencePages = async (): Promise<ReadonlyMap<string, string>> => {
  const shown = await shownExchanges()
  const { pages: guides } = await loadCorpus(content)
  const explained = new Set(guides.get("errors")?.rows.map(({ anchor }) => anchor))
  const pages = new Map<string, string>()
  const counts = new Map<Service, number>()
  for (const service of services) {
    const document = openApiDocument.parse(
      JSON.parse(await readFile(join(app, "..", service.app, "openapi.json"), "utf8")),
    )
    const operations = operationsOf(document)
    const own = await ownExamples(service.name)
    for (const id of own.keys())
      if (operations.every((one) => one.id !== id)) throw new Error(`${service.name} has no operation ${id}`)
    counts.set(service, operations.length)
    pages.set(`${service.name}/index.md`, overviewPage(service, document, operations, explained))
    for (const [index, one] of operations.entries()) {
      const examples = own.get(one.id) ?? examplesOf(shown, service, operations, one)
      pages.set(
        `${service.name}/${one.id}.md`,
        operationPage(service, document, operations, one, service.order + 1 + index, examples, explained),
      )
    }
  }
  pages.set("index.md", referencePage(counts))
  return pages
}

/** Writes the reference pages anew, from the committed OpenAPI documents. */
export const writeReference = async (): Promise<void> => {
  const pages = await referencePages()
  await rm(referenceFolder, { recursive: true, force: true })
  for (const [file, text] of pages) {
    await mkdir(dirname(join(referenceFolder, file)), { recursive: true })
    await writeFile(join(referenceFolder, file), text)
  }
}
