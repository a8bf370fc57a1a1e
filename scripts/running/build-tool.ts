import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"

/**
 * Builds what the documentation server serves: the packages of the command-line tool and the client library, and the
 * pages' scripts. Skipped if none of them has changed. Resolves to the error's text, or undefined.
 */
export const buildTool = async (root: string): Promise<string | undefined> => {
  if (!existsSync(join(root, "apps/cli/package.json"))) return undefined
  const path = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter)
  const command = [
    "run",
    "build",
    "--filter=@svc/cli",
    "--filter=@svc/client",
    "--filter=@svc/site",
    "--output-logs=errors-only",
  ]
  const env = { ...process.env, PATH: path, TURBO_TELEMETRY_DISABLED: "1" }
  return new Promise((resolve) => {
    execFile("turbo", command, { cwd: root, env }, (error, stdout, stderr) => {
      const failed = `${stdout}${stderr}the command-line tool, the client library or the pages' scripts could not be built`
      resolve(error === null ? undefined : failed)
    })
  })
}
