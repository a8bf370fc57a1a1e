import { join, resolve } from "node:path"
import { boundFields, readBounds } from "@svc/http"
import { cidrs, flag, integer, list, loadConfig, oneOf, text, url } from "@svc/config"

const appFolder = join(import.meta.dirname, "..")

const fields = {
  HOST: text({ default: "127.0.0.1" }),
  PORT: integer({ default: 4001, min: 0, max: 65_535 }),
  SVC_LOG_LEVEL: oneOf(["debug", "info", "warn", "error", "silent"], "info"),
  SVC_TRUSTED_PROXY_CIDRS: cidrs(),
  ...boundFields,
  SVC_OTEL_ENABLED: flag(false),
  SVC_DOCS_URL: url({ default: undefined }),
  SVC_API_URL: url({ default: "http://localhost:4003" }),
  SVC_RELAY_URL: url({ default: "http://localhost:4002" }),
  SVC_DOCS_DIR: text({ default: undefined }),
  SVC_DOCS_TITLE: text({ default: undefined }),
  SVC_DOCS_WATCH: flag(false),
  SVC_DOCS_REQUESTS_PER_MINUTE: integer({ default: 0, min: 0 }),
  SVC_ALLOWED_HOSTS: list(),
  SVC_CLI_TARBALL: text({ default: join(appFolder, "../cli/dist/svc.tgz") }),
  SVC_CLIENT_TARBALL: text({ default: join(appFolder, "../../packages/client/dist/svc-client.tgz") }),
}

/** The product's own pages. */
export const ownContent = join(appFolder, "content")

/** Everything the server is told from outside, or one ConfigError with all that is wrong. */
export const readConfig = (env: Readonly<Record<string, string | undefined>>) => {
  const settings = loadConfig(fields, env)
  return {
    host: settings.HOST,
    port: settings.PORT,
    logLevel: settings.SVC_LOG_LEVEL,
    trustedProxies: settings.SVC_TRUSTED_PROXY_CIDRS,
    bounds: readBounds(settings),
    telemetry: settings.SVC_OTEL_ENABLED,
    /** Undefined: this machine, at the port that is listened on. */
    docsUrl: settings.SVC_DOCS_URL,
    apiUrl: settings.SVC_API_URL,
    relayUrl: settings.SVC_RELAY_URL,
    docsDir: settings.SVC_DOCS_DIR === undefined ? ownContent : resolve(settings.SVC_DOCS_DIR),
    /** Undefined: that of the first page. */
    title: settings.SVC_DOCS_TITLE,
    watch: settings.SVC_DOCS_WATCH,
    /** 0: no limit. */
    requestsPerMinute: settings.SVC_DOCS_REQUESTS_PER_MINUTE,
    allowedHosts: settings.SVC_ALLOWED_HOSTS,
    tarballs: [
      {
        path: "/cli/svc.tgz",
        file: resolve(settings.SVC_CLI_TARBALL),
        name: "The command-line tool",
        hint: "The operator builds it with `pnpm --filter @svc/cli build`; all it does can be done by HTTP, see /llms.txt.",
      },
      {
        path: "/client/svc-client.tgz",
        file: resolve(settings.SVC_CLIENT_TARBALL),
        name: "The client library",
        hint: "The operator builds it with `pnpm --filter @svc/client build`; all it does can be done by HTTP, see /llms.txt.",
      },
    ],
  }
}

export type Config = ReturnType<typeof readConfig>
