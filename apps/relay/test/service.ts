import { join } from "node:path"
import { startProcess } from "@svc/testing"

/** The real program, which may end at once. */
export const run = (env: Record<string, string>) =>
  startProcess(process.execPath, ["src/main.ts"], { cwd: join(import.meta.dirname, ".."), env: { PORT: "0", ...env } })
