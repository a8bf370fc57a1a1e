import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"

/**
 * Builds the packages of the command-line tool and the client library, which the documentation server hands out; skipped
 * when nothing of them has changed. Returns the error's text, or undefined.
 */
export const buildTool = (root: string): string | undefined => {
  if (!existsSync(join(root, "apps/cli/package.json"))) return undefined
  const path = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter)
  const build = spawnSync(
    "turbo",
    ["run", "build", "--filter=@svc/cli", "--filter=@svc/client", "--output-logs=errors-only"],
    {
      cwd: root,
      env: { ...process.env, PATH: path, TURBO_TELEMETRY_DISABLED: "1" },
      encoding: "utf8",
    },
  )
  return build.status === 0
    ? undefined
    : `${build.stdout}${build.stderr}the command-line tool and the client library could not be built`
}
