import type {
  Build,
  BuildWithEvents,
  DeletedDeployment,
  Deployment,
  DeploymentAction,
  Page,
  Platform,
  Rollback,
  Run as RunRecord,
  RunWithSteps,
  Spec,
} from "@svc/client"
import type { Context, Outcome, Run } from "../command.ts"
import { usageError } from "../errors.ts"
import { buildParts, type Parts, recordTable, recordText, runParts } from "../output/record-text.ts"
import { type Api, ask, platformOf, readPages } from "../services/api.ts"
import { apiForReading, apiOfOwner } from "../settings/key.ts"
import { followRecord, followRun } from "./follow.ts"

type Act = (context: Context, api: Api, id: number) => Promise<Outcome>

/** Records of one kind: what a command lists and shows of them, and what it can do to one. */
type Records<Listed, Single> = {
  readonly of: (platform: Platform) => {
    readonly list: (page: Page) => Promise<readonly Listed[]>
    readonly get: (id: number) => Promise<Single>
  }
  readonly columns: readonly (keyof Listed & string)[]
  readonly parts?: Parts<Single>
  readonly actions?: Readonly<Record<string, Act>>
}

const idOf = (text: string | undefined): number => {
  if (text === undefined || !/^[1-9]\d{0,9}$/.test(text)) throw usageError("ID must be a number.")
  return Number(text)
}

const noteGoingOn = (context: Context, where: string): void =>
  context.note(`It continues on the server (--wait waits for it). Next: svc ${where}`)

const runAction =
  (action: "resume" | "retry" | "cancel"): Act =>
  async (context, api, id) => {
    const run = await ask<RunWithSteps>(api, "POST", `/api/automation/runs/${id}/${action}`, {})
    if (context.flags.has("wait")) return followRun(context, api, run, action === "cancel" ? "cancelled" : "succeeded")
    if (run.status !== "cancelled") noteGoingOn(context, `runs ${run.id}`)
    return { json: run, text: (style) => recordText(run, style, runParts) }
  }

const deploymentAction =
  (action: "stop" | "restart" | "rollback"): Act =>
  async (context, api, id) => {
    const { to } = context.options
    const body: Rollback = to === undefined ? {} : { to_version: Number(to) }
    const begun = await ask<DeploymentAction>(api, "POST", `/api/deployments/${id}/${action}`, body)
    const { build_id: build } = begun
    if (context.flags.has("wait")) {
      if (build !== undefined) return followRecord(context, api, "build", build, "completed")
      return followRecord(context, api, "deployment", id, action === "stop" ? "stopped" : "active")
    }
    noteGoingOn(context, build === undefined ? `deployments ${id}` : `builds ${build}`)
    return { json: begun, text: (style) => recordText(begun, style) }
  }

const recordsCommand =
  <Listed extends object, Single extends object>(records: Records<Listed, Single>): Run =>
  async (context) => {
    const [first, second] = context.args
    const { of, columns, parts, actions = {} } = records
    const act = first !== undefined && Object.hasOwn(actions, first) ? actions[first] : undefined
    if (act === undefined && second !== undefined) {
      throw usageError(`Unknown action: ${first}. Actions: ${Object.keys(actions).join(", ")}.`)
    }
    if (context.options["to"] !== undefined && first !== "rollback") throw usageError("--to is only for rollback.")
    if (act !== undefined) {
      const id = idOf(second)
      return act(context, await apiOfOwner(context), id)
    }
    const id = first === undefined ? undefined : idOf(first)
    const api = await apiForReading(context)
    if (id !== undefined) {
      const record = await of(platformOf(api)).get(id)
      return { json: record, text: (style) => recordText(record, style, parts) }
    }
    const all = await readPages(api, (platform, page) => of(platform).list(page))
    return { json: all, text: (style) => recordTable(all, columns, style) }
  }

/** `svc specs`: specs that the key's owner has, or that are shared with it. */
export const specs = recordsCommand<Spec, Spec>({
  of: (platform) => platform.specs,
  columns: ["id", "name", "latest_version", "visibility", "websocket_url", "deprecated"],
})

export const builds = recordsCommand<Build, BuildWithEvents>({
  of: (platform) => platform.builds,
  columns: ["id", "spec_id", "status", "phase", "status_message", "created_at"],
  parts: buildParts,
})

export const deployments = recordsCommand<Deployment, Deployment>({
  of: (platform) => platform.deployments,
  columns: ["id", "spec_name", "status", "current_version", "last_deployed_at"],
  actions: {
    stop: deploymentAction("stop"),
    restart: deploymentAction("restart"),
    rollback: deploymentAction("rollback"),
    delete: async (_context, api, id) => {
      const deleted = await ask<DeletedDeployment>(api, "DELETE", `/api/deployments/${id}`)
      return { json: deleted, text: (style) => recordText(deleted, style) }
    },
  },
})

export const runs = recordsCommand<RunRecord, RunWithSteps>({
  of: (platform) => platform.runs,
  columns: ["id", "workflow", "spec_id", "status", "attempt", "error_message", "created_at"],
  parts: runParts,
  actions: { resume: runAction("resume"), retry: runAction("retry"), cancel: runAction("cancel") },
})
