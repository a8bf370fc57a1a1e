import { integer, loadConfig, text } from "@svc/config"
import { createLogger, runService } from "@svc/program"
import { startLocalChain } from "./http.ts"

const fields = { host: text("HOST", "127.0.0.1"), port: integer("PORT", 8899, { min: 0, max: 65_535 }) }

await runService("local-chain", async () => {
  const config = loadConfig(fields, process.env)
  const log = await createLogger({ level: "info", pretty: process.stdout.isTTY, service: "local-chain" })
  const { url, close } = await startLocalChain({ ...config, now: Date.now })
  log.info({ url }, "local chain listening")
  return { log, close }
})
