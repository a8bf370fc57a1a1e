import { z } from "zod"
import { startLocalChain } from "./http.ts"

const orUnset = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined)
const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535

const settings = z.object({
  HOST: z.preprocess(orUnset, z.string().default("127.0.0.1")),
  PORT: z.preprocess(orUnset, z.string().refine(isPort, "must be a port number").default("8899")).transform(Number),
})

const say = (line: object) => console.log(JSON.stringify(line))
const fail = (message: string): never => {
  console.error(JSON.stringify({ level: "error", msg: message }))
  process.exit(1)
}

const parsed = settings.safeParse(process.env)
if (!parsed.success) {
  fail(parsed.error.issues.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; "))
} else {
  const { HOST: host, PORT: port } = parsed.data
  try {
    const chain = await startLocalChain({ host, port, now: Date.now })
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
    fail(`cannot listen on ${host} port ${port}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
