import { existsSync } from "node:fs"
import {
  ask,
  type Check,
  checkOtherService,
  checkPublicUrl,
  fail,
  type Finding,
  isPublic,
  pass,
  serviceChecks,
  warn,
} from "@svc/program"
import { validateTelemetry } from "@svc/telemetry"
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

/** Whether the platform takes the viewer key from the pages' origin. */
const checkViewerKey = async (
  key: string,
  { apiUrl, internalApiUrl, publicUrl }: Config,
): Promise<readonly Finding[]> => {
  const origin = publicUrl === undefined ? {} : { origin: new URL(publicUrl).origin }
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...origin }
  // No stream has this URL, so no token is minted.
  const body = JSON.stringify({ websocket_url: "wss://doctor.invalid" })
  const answer = await ask(`${internalApiUrl ?? apiUrl}/ws/sessions`, { method: "POST", headers, body })
  if ("reason" in answer) return []
  if (answer.status !== 401 && answer.status !== 403) return [pass("viewer-key", "the platform accepts it")]
  const { code = String(answer.status) } = Object(answer.body) as { code?: string }
  const next =
    "Set SVC_VIEWER_KEY to a key of this platform: `viewer-key create --origin` with the origin of SVC_DOCS_URL."
  return [fail("viewer-key", `the platform rejects SVC_VIEWER_KEY (${code})`, next)]
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
  validateTelemetry(config, env)
  const { viewerKey, internalApiUrl } = config
  return {
    ...serviceChecks("docs-server", env, config),
    pages: () => checkPages(config),
    ...(viewerKey !== undefined && { "viewer-key": () => checkViewerKey(viewerKey, config) }),
    ...(config.docsDir === ownContent && {
      packages: async () => checkTarballs(config),
      services: async () =>
        (
          await Promise.all([
            checkOtherService("platform-api", "SVC_API_URL", config.apiUrl, wallClock),
            checkOtherService("relay", "SVC_RELAY_URL", config.relayUrl, wallClock),
            internalApiUrl === undefined
              ? []
              : checkOtherService("platform-api", "SVC_API_INTERNAL_URL", internalApiUrl, wallClock),
          ])
        ).flat(),
      "stream-url": async () => checkStream(config),
    }),
    "public-url": () => checkPublicUrl("docs-server", "SVC_DOCS_URL", config.publicUrl, wallClock()),
  }
}
