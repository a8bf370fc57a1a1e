import { existsSync } from "node:fs"
import { join } from "node:path"
import { operate, platformFolder } from "./operate.ts"
import { isSet, type PlannedService } from "./start-plan.ts"

/**
 * Gives the documentation a key by which its pages show live data; that of the last start is revoked. It has to end before the
 * platform runs on its database. Without one, pages ask for a key: what is wrong with the platform it says itself when it starts.
 */
export const withViewerKey = async (planned: readonly PlannedService[]): Promise<readonly PlannedService[]> => {
  const [docs, platform] = ["docs", "platform"].map((name) => planned.find(({ service }) => service.name === name))
  if (docs === undefined || platform === undefined || isSet(docs.env, "SVC_VIEWER_KEY")) return planned
  if (!existsSync(join(platformFolder, "src/operator"))) return planned
  const { origin } = new URL(docs.env["SVC_DOCS_URL"] ?? docs.url)
  const made = operate(platform.env, "viewer-key", "create", "--replace", "--origin", origin)
  const { key } = Object(await made.catch(() => undefined))
  if (typeof key !== "string") return planned
  return planned.map((one) => (one === docs ? { ...docs, env: { ...docs.env, SVC_VIEWER_KEY: key } } : one))
}
