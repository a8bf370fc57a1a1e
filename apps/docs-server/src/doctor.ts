import { existsSync } from "node:fs"
import { ask, type Check, checkClock, checkPublicUrl, fail, type Finding, isPublic, pass, warn } from "@svc/program"
import { type Config, ownContent, readConfig } from "./config.ts"
import { CorpusError, loadCorpus } from "./corpus/corpus.ts"

const checkPages = async ({ docsDir }: Config): Promise<readonly Finding[]> => {
  try {
    const { pages, warnings } = await loadCorpus(docsDir, {})
    const found = warnings.map((text) => warn("pages", text, "Rename the page if people should find it there."))
    if (pages.size === 0)
      return [fail("pages", `${docsDir} has no page`, "Set SVC_DOCS_DIR to a folder of Markdown files.")]
    return [...found, pass("pages", `${pages.size} pages can be read`)]
  } catch (error) {
    const reason = error instanceof CorpusError ? error.message : `${docsDir} can't be read`
    return [fail("pages", reason, "Correct SVC_DOCS_DIR, or the page.")]
  }
}

const checkTarballs = ({ tarballs }: Config): readonly Finding[] =>
  Object.values(tarballs).map(({ path, file, hint }) =>
    existsSync(file)
      ? pass("packages", `${path} can be served`)
      : fail("packages", `${path} is missing, and pages tell agents to use it`, hint),
  )

/** A service that pages name: whether it answers, by its own name. */
const checkService = async (variable: string, url: string, at: () => number): Promise<readonly Finding[]> => {
  const before = at()
  const answer = await ask(`${url}/`)
  if ("reason" in answer)
    return [
      warn(
        "services",
        `${variable} doesn't answer (${answer.reason})`,
        "Start that service, or correct the URL: pages name it.",
      ),
    ]
  const { name } = Object(answer.body) as { name?: string }
  if (name?.startsWith("svc-") !== true)
    return [fail("services", `${variable} is no service of this product`, "Correct the URL: pages name it.")]
  const clock = checkClock(variable, Date.parse(answer.header("date") ?? ""), (before + at()) / 2)
  return [pass("services", `${variable} answers as ${name}`), ...clock]
}

const checkStream = ({ streamUrl, publicUrl }: Config): readonly Finding[] => {
  if (!isPublic(publicUrl) || isPublic(streamUrl)) return [pass("stream-url", `pages name ${streamUrl}`)]
  return [
    fail(
      "stream-url",
      `pages tell everybody ${streamUrl}, which is this machine`,
      "Set SVC_STREAM_URL to the stream server's URL.",
    ),
  ]
}

/** What the documentation server needs, as checks. Throws ConfigError. */
export const docsChecks = async (
  env: Readonly<Record<string, string | undefined>>,
  { wallClock }: { readonly wallClock: () => number },
): Promise<Readonly<Record<string, Check>>> => {
  const config = readConfig(env)
  return {
    pages: () => checkPages(config),
    ...(config.docsDir === ownContent && {
      packages: async () => checkTarballs(config),
      services: async () =>
        (
          await Promise.all([
            checkService("SVC_API_URL", config.apiUrl, wallClock),
            checkService("SVC_RELAY_URL", config.relayUrl, wallClock),
          ])
        ).flat(),
      "stream-url": async () => checkStream(config),
    }),
    "public-url": () => checkPublicUrl("SVC_DOCS_URL", config.publicUrl, wallClock()),
  }
}
