import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { nodeFlags } from "../../infra/services.ts"
import type { PlannedService } from "./start-plan.ts"

const command = [...nodeFlags, "src/main.ts", "viewer-key", "create", "--replace", "--origin"]

/** Mints a key at an operator's command, before the platform runs on its database. Resolves to what the command printed. */
const mint = ({ service, env }: PlannedService, root: string, origin: string): Promise<string> =>
  new Promise((resolve) => {
    const options = { cwd: join(root, service.folder), env: { ...env } }
    execFile(process.execPath, [...command, origin], options, (_error, stdout) => resolve(stdout))
  })

/**
 * Gives the documentation a key by which its pages show live data; that of the last start is revoked. Without one, pages ask
 * for a key: what is wrong with the platform it says itself when it starts.
 */
export const withViewerKey = async (
  root: string,
  planned: readonly PlannedService[],
): Promise<readonly PlannedService[]> => {
  const [docs, platform] = ["docs", "platform"].map((name) => planned.find(({ service }) => service.name === name))
  if (docs === undefined || platform === undefined || (docs.env["SVC_VIEWER_KEY"] ?? "") !== "") return planned
  if (!existsSync(join(root, platform.service.folder, "src/operator"))) return planned
  const printed = await mint(platform, root, new URL(docs.env["SVC_DOCS_URL"] ?? docs.url).origin)
  const [, key] = /"key":"(svc_pk_\w+)"/.exec(printed) ?? []
  if (key === undefined) return planned
  return planned.map((one) => (one === docs ? { ...docs, env: { ...docs.env, SVC_VIEWER_KEY: key } } : one))
}
