import { callApi, jsonOf, readPages } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { usageError } from "../errors.ts"
import { followBuild, followDeployment, followRun } from "./follow.ts"
import { textOf } from "../output/json-value.ts"
import { apiForReading, apiOfOwner } from "../settings/key.ts"
import { buildParts, headingOf, type Parts, runParts, shown } from "../output/record-text.ts"
import { table } from "../output/table.ts"
import { readJson, versionOption } from "../explore/versions.ts"

/** What a command of owners lists, shows and does. */
type Records = {
  readonly command: string
  readonly path: string
  /** Members that a list shows. */
  readonly columns: readonly string[]
  readonly parts?: Parts
  /** What can be done to one, and how that is asked. */
  readonly actions: Readonly<Record<string, "POST" | "DELETE">>
}

const idOf = (text: string | undefined, command: string): string => {
  if (text === undefined || !/^[1-9]\d{0,9}$/.test(text)) throw usageError(`ID is a number: svc ${command}.`, command)
  return text
}

const act = async (context: Context, records: Records, method: "POST" | "DELETE"): Promise<Outcome> => {
  const { command, path } = records
  const [action = "", text] = context.args
  const id = idOf(text, command)
  const to = versionOption(context, "to", command)
  if (to !== undefined && action !== "rollback") throw usageError("--to goes with rollback.", command)
  const api = await apiOfOwner(context)
  const target = method === "DELETE" ? `${path}/${id}` : `${path}/${id}/${action}`
  const body = to === undefined ? {} : { to_version: Number(to) }
  const answer = jsonOf(await callApi(api, target, method === "DELETE" ? { method } : { method, body }), api.url)
  const build = textOf(answer, "build_id")
  const run = command === "runs" ? textOf(answer, "id") : ""
  if (context.flags.has("wait") && method === "POST") {
    if (run !== "") return followRun(context, api, answer, action === "cancel" ? "cancelled" : "succeeded")
    if (build !== "") return followBuild(context, api, build)
    return followDeployment(context, api, id, action === "stop" ? "stopped" : "active")
  }
  if (method === "POST" && textOf(answer, "status") !== "cancelled") {
    const where = build === "" ? `${command} ${run === "" ? id : run}` : `builds ${build}`
    context.note(`It goes on by itself (--wait waits for it): svc ${where}`)
  }
  return { json: answer, text: shown(answer, context, records.parts) }
}

const recordsCommand =
  (records: Records) =>
  async (context: Context): Promise<Outcome> => {
    const [first, second] = context.args
    const { command, path, columns, actions } = records
    const method = first !== undefined && Object.hasOwn(actions, first) ? actions[first] : undefined
    if (method !== undefined) return act(context, records, method)
    if (second !== undefined) {
      const known = Object.keys(actions).join(", ")
      throw usageError(`There is no svc ${command} ${first}.${known === "" ? "" : ` There is ${known}.`}`, command)
    }
    if (context.options["to"] !== undefined) throw usageError("--to goes with rollback.", command)
    const api = await apiForReading(context)
    if (first !== undefined) {
      const record = await readJson(api, `${path}/${idOf(first, command)}`)
      return { json: record, text: shown(record, context, records.parts) }
    }
    const list = await readPages(api, path, "limit=100")
    const rows = list.map((record) => columns.map((name) => textOf(record, name)))
    return { json: list, text: table(headingOf(columns), rows, context.bold) }
  }

/** `svc specs`: what the key's owner has, or shares. */
export const specs = recordsCommand({
  command: "specs",
  path: "/api/specs",
  columns: ["id", "name", "latest_version", "visibility", "websocket_url"],
  actions: {},
})

/** `svc builds [ID]`. */
export const builds = recordsCommand({
  command: "builds",
  path: "/api/builds",
  columns: ["id", "spec_id", "branch", "status", "phase", "status_message", "created_at"],
  parts: buildParts,
  actions: {},
})

/** `svc deployments [ID | stop ID | restart ID | rollback ID | delete ID]`. */
export const deployments = recordsCommand({
  command: "deployments",
  path: "/api/deployments",
  columns: ["id", "spec_name", "branch", "status", "current_version", "last_deployed_at"],
  actions: { stop: "POST", restart: "POST", rollback: "POST", delete: "DELETE" },
})

/** `svc runs [ID | resume ID | retry ID | cancel ID]`. */
export const runs = recordsCommand({
  command: "runs",
  path: "/api/automation/runs",
  columns: ["id", "workflow", "spec_id", "status", "attempt", "error_message", "created_at"],
  parts: runParts,
  actions: { resume: "POST", retry: "POST", cancel: "POST" },
})
