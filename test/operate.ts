import { join } from "node:path"
import { startProcess } from "@svc/testing"
import { z } from "zod"

const platform = join(import.meta.dirname, "../apps/platform-api/src/main.ts")

/**
 * Runs an operator's command, and gives the JSON that it prints.
 * @param env the platform's DATABASE_URL or SVC_DATA_DIR
 */
export const operate = async (env: Readonly<Record<string, string>>, ...command: string[]): Promise<unknown> => {
  const program = startProcess(process.execPath, [platform, ...command], { env })
  if ((await program.exited) !== 0) throw new Error(`${program.stdout()}${program.stderr()}`)
  return JSON.parse(program.stdout())
}

/** Makes a person's account, and gives its key. */
export const createPerson = async (env: Readonly<Record<string, string>>, email: string): Promise<string> =>
  z.object({ api_key: z.string() }).parse(await operate(env, "user", "create", "--email", email)).api_key
