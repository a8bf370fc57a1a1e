import { flushCompileCache } from "node:module"
import { visibleJson } from "@svc/common/foreign-text"
import { processRuntime, type Runtime, runService, runProgram } from "@svc/program"
import manifest from "../package.json" with { type: "json" }
import { readSettings } from "./config.ts"
import { openDatabase } from "./db/open.ts"
import { commandUsages, runCommand } from "./operator/commands.ts"
import { platformChecks } from "./operator/doctor.ts"
import { failureOf, setupFault } from "./operator/failure.ts"
import { startService } from "./service.ts"

const commandMs = 600_000

/** What others wrote, such as a stack's description, controls no terminal. */
const print = (result: unknown): void => console.log(visibleJson(JSON.stringify(result)))

const operate = async (args: readonly string[], { env, wallClock, now, randomBytes }: Runtime): Promise<void> => {
  let close: (() => Promise<void>) | undefined
  try {
    const database = async () => {
      const opened = await openDatabase(readSettings(env), { statementMs: 0, now })
      close = opened.database.close
      return { queries: opened.database.within(commandMs), applied: opened.applied }
    }
    const settings = () => readSettings(env)
    print(await runCommand(args, { database, settings, wallClock, randomBytes }))
  } catch (error) {
    print(failureOf(error))
    process.exitCode = 1
  } finally {
    await close?.()
  }
}

const serve = (runtime: Runtime): Promise<void> =>
  runService("platform-api", async () => {
    const service = await startService(runtime).catch((error: unknown) => {
      throw setupFault(error, runtime.env["DATABASE_URL"] ?? "")
    })
    flushCompileCache()
    return service
  })

/** Runs the given operator command. Without one, runs the service until it is stopped. */
export const run = async (args: readonly string[]): Promise<void> => {
  const runtime = processRuntime()
  await runProgram({
    service: "platform-api",
    version: manifest.version,
    args,
    serve: () => serve(runtime),
    checks: () => platformChecks(runtime.env, runtime),
    operate: { commands: commandUsages, run: () => operate(args, runtime) },
  })
}
