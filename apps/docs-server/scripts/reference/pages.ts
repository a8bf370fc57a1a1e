import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { loadCorpus } from "../../src/corpus/corpus.ts"
import { stepsOf } from "../../test/content/steps.ts"
import {
  type Example,
  type OpenApi,
  type Service,
  openApiDocument,
  operationPage,
  operationsOf,
  overviewPage,
  referencePage,
} from "./operation-page.ts"

const app = join(import.meta.dirname, "../..")
const content = join(app, "content")
/** Where the reference stands. */
export const referenceFolder = join(content, "reference")

type Documented = Service & { readonly document: string }

const services: readonly Documented[] = [
  {
    name: "platform",
    title: "Platform API",
    short: "platform",
    url: "{api_url}",
    order: 100,
    document: "platform-api",
  },
  {
    name: "relay",
    title: "Transaction relay",
    short: "relay",
    url: "{relay_url}",
    order: 200,
    document: "relay",
  },
  {
    name: "docs",
    title: "Documentation server",
    short: "documentation",
    url: "{base_url}",
    order: 300,
    document: "docs-server",
  },
]

type Shown = Example & { readonly guide: string; readonly method: string; readonly url: string }

// What these answer, an earlier call has made: their examples show it too.
const precededBy: Readonly<Record<string, string>> = { "get-profile": "sign-up", "signature-status": "send" }

/** The exchanges that the guides show, which the tests of the pages run. */
const shownExchanges = async (): Promise<Shown[]> => {
  // getting-started.md is one script: its answers are those of a program.
  const guides = (await readdir(content)).filter((file) => file.endsWith(".md") && file !== "getting-started.md").sort()
  const texts = await Promise.all(
    guides.map(async (guide) => ({ guide, text: await readFile(join(content, guide), "utf8") })),
  )
  return texts
    .flatMap(({ guide, text }) => stepsOf(text).map(({ command, answer }) => ({ guide, command, answer })))
    .filter(({ command, answer }) => command.text.startsWith("curl ") && answer.text.startsWith("HTTP/1.1 2"))
    .map(({ guide, command, answer }) => ({
      guide,
      command: command.text,
      answer: answer.text,
      method: /\s-X (\w+)/.exec(command.text)?.[1] ?? (/\s--json\b/.test(command.text) ? "POST" : "GET"),
      url: /\{(?:api|relay|base)_url\}[^\s"'?]*/.exec(command.text)?.[0] ?? "",
    }))
}

// An example is run on its own: what stands in it as a placeholder must be something that a reader has beforehand.
const given = new Set(["API_KEY", "TOKEN", "TRANSACTION", "MESSAGE", "SIGNATURE", "ADDRESS", "PUBLISHABLE_KEY"])
const standsAlone = ({ command }: Shown): boolean =>
  [...command.matchAll(/\$(\w+)/g)].every(([, name = ""]) => given.has(name)) && !/<[A-Z_]+>/.test(command)

const matches = (url: string, template: string): boolean => {
  const pattern = template
    .split("/")
    .map((part) => (part.startsWith("{") ? "[^/]+" : part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")))
  return new RegExp(`^${pattern.join("/")}$`).test(url)
}

type Operation = ReturnType<typeof operationsOf>[number]

/** The exchanges of operations that no guide shows, by service and operation. */
const ownExamples = async (service: string): Promise<ReadonlyMap<string, Example[]>> => {
  const text = await readFile(join(import.meta.dirname, "examples", `${service}.md`), "utf8")
  const parts = text.split(/^## (.+)$/m).slice(1)
  const examples = new Map<string, Example[]>()
  for (let at = 0; at < parts.length; at += 2) {
    const steps = stepsOf(parts[at + 1] ?? "")
    examples.set(
      parts[at] ?? "",
      steps.map(({ command, answer }) => ({ command: command.text, answer: answer.text })),
    )
  }
  return examples
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
export const referencePages = async (): Promise<ReadonlyMap<string, string>> => {
  const shown = await shownExchanges()
  const { pages: guides } = await loadCorpus(content)
  const explained = new Set(guides.get("errors")?.rows.map(({ anchor }) => anchor))
  const pages = new Map<string, string>()
  const overviews: Parameters<typeof referencePage>[0][number][] = []
  for (const { document: name, ...service } of services) {
    const document: OpenApi = openApiDocument.parse(
      JSON.parse(await readFile(join(app, "..", name, "openapi.json"), "utf8")),
    )
    const operations = operationsOf(document)
    const own = await ownExamples(service.name)
    for (const id of own.keys())
      if (operations.every((one) => one.id !== id)) throw new Error(`${service.name} has no operation ${id}`)
    overviews.push({ service, operations: operations.length })
    pages.set(`${service.name}/index.md`, overviewPage(service, document, operations))
    for (const [index, one] of operations.entries()) {
      const examples = own.get(one.id) ?? examplesOf(shown, service, operations, one)
      pages.set(
        `${service.name}/${one.id}.md`,
        operationPage(service, document, one, service.order + 1 + index, examples, explained),
      )
    }
  }
  pages.set("index.md", referencePage(overviews))
  return pages
}
