import { fileURLToPath } from "node:url"
import { startProcess } from "@svc/testing"

const folder = fileURLToPath(new URL("..", import.meta.url))

/** The real program in a process of its own. */
export const run = (env: Record<string, string>) =>
  startProcess(process.execPath, ["src/main.ts"], { cwd: folder, env: { PORT: "0", ...env } })

/** The same, once it listens. */
export const startService = async (env: Record<string, string>) => {
  const child = run(env)
  const port = Number((await child.waitFor(/"port":(\d+),.*"msg":"listening"/))[1])
  return { ...child, port, url: `http://127.0.0.1:${port}` }
}
