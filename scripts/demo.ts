// `pnpm demo`: runs the journey of test/journey step by step, on a temporary instance of all services.
import { styleText } from "node:util"

import { journey, type RunStep } from "../test/journey/journey.ts"
import { makeOwner } from "../test/journey/owner.ts"
import { startInstance } from "./running/instance.ts"

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const stopping = new AbortController()
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(1)
      stopping.abort()
      reject(new Error("stopped"))
    })
  }
})
interrupted.catch(() => {})

let count = 0
const tell: RunStep = async ({ does, proves }, run) => {
  count += 1
  say(`\n${styleText("bold", `${count}. ${does}`)}`)
  const result = await run((line) => say(`   ${line}`))
  say(styleText("green", `   ✓ ${proves}`))
  return result
}

say("Starting the services on free ports with a new data folder…")
const instance = await startInstance(stopping.signal, makeOwner).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
})
try {
  await Promise.race([journey(instance, tell), interrupted])
  say(`\nAll ${count} steps did what they claim. Nothing of this stays.`)
} catch (error) {
  process.exitCode = 1
  if (stopping.signal.aborted) say("\nStopping the services; nothing of this stays.")
  else console.error(error)
} finally {
  await instance.stop()
}
// An interrupted step may still wait for a service that has stopped.
process.exit()
