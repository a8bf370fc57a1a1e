import { fileURLToPath } from "node:url"
import { freePort, startProcess, type TestProcess } from "@svc/testing"

const app = fileURLToPath(new URL("..", import.meta.url))

/** The program as an operator starts it. */
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
