import { randomUUID } from "node:crypto"
import { setFlagsFromString } from "node:v8"
import { createLogger, runService } from "@svc/http"
import manifest from "../package.json" with { type: "json" }
import { readConfig } from "./config.ts"
import { startServer } from "./server.ts"

// Reading many pages makes much garbage: with a young generation that grows for it, the server keeps 60 MB more for good.
setFlagsFromString("--semi-space-growth-factor=1")

await runService(async () => {
  const config = readConfig(process.env)
  const log = await createLogger({ level: config.logLevel, pretty: process.stdout.isTTY, service: "docs-server" })
  const world = { log, now: () => performance.now(), randomId: randomUUID }
  const server = await startServer(config, manifest.version, world)
  log.info({ url: server.baseUrl, host: config.host, port: server.port, pages: server.pages }, "listening")
  return { log, close: server.close }
})
