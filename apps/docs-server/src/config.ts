import { join, resolve } from "node:path"
import { field, flag, integer, list, loadConfig, text, url } from "@svc/config"
import { recogniseKey } from "@svc/keys"
import { serviceFields } from "@svc/http"
import { z } from "zod"
import facts from "../facts.json" with { type: "json" }

/** How long requests may go on after the service is told to stop. */
export const drainMs = 5000

const appFolder = join(import.meta.dirname, "..")

// Whoever reads a page reads this key: a secret one must never get there.
const viewerKey = z
  .string()
  .refine((key) => recogniseKey(key) === "pk", "must be a publishable key (svc_pk_…): pages show it to every visitor")

const homeView = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}\/[^\s/]+\/[^\s/]+$/,
    "must be a stack and a view, such as transfers/SolTransfer/latest",
  )
  .transform((value) => ({ stack: value.slice(0, value.indexOf("/")), view: value.slice(value.indexOf("/") + 1) }))

const fields = {
  ...serviceFields(4001),
  /** Undefined: this machine, at the port that is listened on. */
  publicUrl: url("SVC_DOCS_URL", undefined),
  apiUrl: url("SVC_API_URL", "http://localhost:4003"),
  /** Where this service reaches the platform API. Undefined: at `apiUrl`. */
  internalApiUrl: url("SVC_API_INTERNAL_URL", undefined),
  relayUrl: url("SVC_RELAY_URL", "http://localhost:4002"),
  streamUrl: url("SVC_STREAM_URL", "ws://127.0.0.1:4004", { protocols: ["ws:", "wss:"] }),
  /** Undefined: the copy isn't on a local chain. */
  chainUrl: url("SVC_CHAIN_URL", undefined),
  /** Lets every page read public streams; its origin is the documentation's. Undefined: readers paste a key of their own. */
  viewerKey: field<string | undefined>("SVC_VIEWER_KEY", viewerKey, undefined),
  /** What the home page shows live, where the registry has that stack. */
  homeView: field("SVC_HOME_VIEW", homeView, { stack: "transfers", view: "SolTransfer/latest" }),
  docsDir: text("SVC_DOCS_DIR", undefined),
  /** Undefined: the first page's title. */
  title: text("SVC_DOCS_TITLE", undefined),
  /** The folder of the pages where readers may edit them. */
  editUrl: url("SVC_DOCS_EDIT_URL", undefined),
  watch: flag("SVC_DOCS_WATCH", false),
  /** 0: no limit. */
  requestsPerMinute: integer("SVC_DOCS_REQUESTS_PER_MINUTE", 0, { min: 0 }),
  allowedHosts: list("SVC_ALLOWED_HOSTS"),
  cliTarball: text("SVC_CLI_TARBALL", join(appFolder, "../cli/dist/svc.tgz")),
  clientTarball: text("SVC_CLIENT_TARBALL", join(appFolder, "../../packages/client/dist/svc-client.tgz")),
}

export const ownContent = join(appFolder, "content")

/** Values of placeholders in them, besides URLs: `{session_token_minutes}`. */
export const ownFacts: Readonly<Record<string, string>> = facts

const tarball = (path: string, file: string, name: string) => ({
  path,
  file: resolve(file),
  name,
  hint: "The operator builds it with `npx -y pnpm@12 build`; all it does can be done by HTTP, see /llms.txt.",
})

/** Reads all settings. Throws one ConfigError with every problem. */
export const readConfig = (env: Readonly<Record<string, string | undefined>>) => {
  const settings = loadConfig(fields, env)
  return {
    ...settings,
    docsDir: settings.docsDir === undefined ? ownContent : resolve(settings.docsDir),
    /** The packages that are handed out, and where they are. */
    tarballs: {
      cli: tarball("/cli/svc.tgz", settings.cliTarball, "The command-line tool"),
      client: tarball("/client/svc-client.tgz", settings.clientTarball, "The client library"),
    },
  }
}

export type Config = ReturnType<typeof readConfig>
