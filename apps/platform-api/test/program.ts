import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import { freePort, startProcess, type TestProcess } from "@svc/testing"
import { readSettings } from "../src/config.ts"
import { runCommand } from "../src/operator/commands.ts"
import { failureOf } from "../src/operator/failure.ts"
import type { TestService } from "./service.ts"

const app = fileURLToPath(new URL("..", import.meta.url))

export const startProgram = (args: readonly string[], env: Readonly<Record<string, string>>): TestProcess =>
  startProcess(process.execPath, ["src/main.ts", ...args], { env, cwd: app })

/** The service as a process of its own, once it listens. */
export const startReplica = async (env: Readonly<Record<string, string>>) => {
  const port = await freePort()
  const program = startProgram([], { PORT: String(port), ...env })
  await program.waitFor(/"listening"/)
  const url = `http://127.0.0.1:${port}`
  return {
    program,
    url,
    signUp: (headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${url}/api/agents/signup`, { method: "POST", headers }),
    me: (key: string) => fetch(`${url}/api/agents/me`, { headers: { authorization: `Bearer ${key}` } }),
  }
}

export type Replica = Awaited<ReturnType<typeof startReplica>>

/** Runs an operator command to its end. */
export const operate = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
  const program = startProgram(args, env)
  const code = await program.exited
  return { code, json: JSON.parse(program.stdout()), stderr: program.stderr() }
}

/** What a command prints as JSON, on the database of a service of this process; of a failure, what is told of it. */
export const command = async (
  service: Pick<TestService, "database">,
  args: readonly string[],
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<any> => {
  const printed = runCommand(args, {
    database: async () => ({ queries: service.database(), applied: 0 }),
    settings: () => readSettings({}),
    wallClock: Date.now,
    randomBytes,
  })
  return JSON.parse(JSON.stringify(await printed.catch(failureOf)))
}
