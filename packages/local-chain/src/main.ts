import { integer, loadConfig, text } from "@svc/config"
import { startLocalChain } from "./http.ts"

const say = (line: object) => console.log(JSON.stringify(line))
const fail = (message: string): never => {
  console.error(JSON.stringify({ level: "error", msg: message }))
  process.exit(1)
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

try {
  const config = loadConfig(
    { host: text("HOST", "127.0.0.1"), port: integer("PORT", 8899, { min: 0, max: 65_535 }) },
    process.env,
  )
  const chain = await startLocalChain({ ...config, now: Date.now }).catch((error: unknown) =>
    fail(`cannot listen on ${config.host} port ${config.port}: ${reasonOf(error)}`),
  )
  say({ level: "info", msg: "local chain listening", url: chain.url })
  let stopping = false
  const stop = async () => {
    if (stopping) process.exit(1)
    stopping = true
    await chain.close()
    process.exit(0)
  }
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop())
} catch (error) {
  fail(reasonOf(error))
}
