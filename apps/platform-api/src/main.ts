import { randomBytes, randomUUID } from "node:crypto"
import { runService } from "@svc/http"
import { readSettings } from "./config.ts"
import { openDatabase } from "./db/open.ts"
import { runCommand } from "./operator/commands.ts"
import { failureOf } from "./operator/failure.ts"
import { startService } from "./serve.ts"

const wallClock = () => Date.now()
const now = () => performance.now()
const commandMs = 600_000

const operate = async (args: readonly string[]): Promise<void> => {
  let close: (() => Promise<void>) | undefined
  try {
    const database = async () => {
      const opened = await openDatabase(readSettings(process.env), { statementMs: 0, now })
      close = opened.database.close
      return { queries: opened.database.within(commandMs), applied: opened.applied }
    }
    const relayUrl = () => readSettings(process.env).SVC_RELAY_URL
    console.log(JSON.stringify(await runCommand(args, { database, relayUrl, wallClock, randomBytes })))
  } catch (error) {
    console.log(JSON.stringify(failureOf(error)))
    process.exitCode = 1
  } finally {
    await close?.()
  }
}

const args = process.argv.slice(2)
if (args.length > 0) await operate(args)
else {
  const outside = { wallClock, now, randomBytes, randomId: randomUUID, terminal: process.stdout.isTTY }
  await runService(() => startService(readSettings(process.env), outside))
}
