import { flushCompileCache } from "node:module"
import { processRuntime, type Runtime, runService } from "@svc/http"
import { readSettings } from "./config.ts"
import { openDatabase } from "./db/open.ts"
import { runCommand } from "./operator/commands.ts"
import { failureOf } from "./operator/failure.ts"
import { startService } from "./service.ts"

const commandMs = 600_000

const operate = async (args: readonly string[], { env, wallClock, now, randomBytes }: Runtime): Promise<void> => {
  let close: (() => Promise<void>) | undefined
  try {
    const database = async () => {
      const opened = await openDatabase(readSettings(env), { statementMs: 0, now })
      close = opened.database.close
      return { queries: opened.database.within(commandMs), applied: opened.applied }
    }
    const streamUrl = () => readSettings(env).streamUrl
    console.log(JSON.stringify(await runCommand(args, { database, streamUrl, wallClock, randomBytes })))
  } catch (error) {
    console.log(JSON.stringify(failureOf(error)))
    process.exitCode = 1
  } finally {
    await close?.()
  }
}

/** Runs the given operator command. Without one, runs the service until it is stopped. */
export const run = async (args: readonly string[]): Promise<void> => {
  const runtime = processRuntime()
  if (args.length > 0) return operate(args, runtime)
  await runService(async () => {
    const service = await startService(runtime)
    flushCompileCache()
    return service
  })
}
