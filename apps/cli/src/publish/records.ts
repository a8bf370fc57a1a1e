import type { Context, Outcome, Run } from "../command.ts"
import { usageError } from "../errors.ts"
import { rowOf, textOf } from "../output/json-value.ts"
import { buildParts, headingOf, type Parts, recordText, runParts } from "../output/record-text.ts"
import { table } from "../output/table.ts"
import { callJson, readPages } from "../services/api.ts"
import { apiForReading, apiOfOwner } from "../settings/key.ts"
import { followRecord, followRun } from "./follow.ts"

/** Records of one kind: what a command lists and shows of them, and what it can do to one. */
type Records = {
  readonly command: string
  readonly path: string
  readonly columns: readonly string[]
  readonly parts?: Parts
  readonly actions?: Readonly<Record<string, "POST" | "DELETE">>
}

const idOf = (text: string | undefined): string => {
  if (text === undefined || !/^[1-9]\d{0,9}$/.test(text)) throw usageError("ID must be a number.")
  return text
}

const act = async (context: Context, records: Records, method: "POST" | "DELETE"): Promise<Outcome> => {
  const { command, path, parts } = records
  const [action = "", text] = context.args
  const id = idOf(text)
  const to = context.options["to"]
  if (to !== undefined && action !== "rollback") throw usageError("--to is only for rollback.")
  const api = await apiOfOwner(context)
  const isDeletion = method === "DELETE"
  const body = to === undefined ? {} : { to_version: Number(to) }
  const answer = await callJson(
    api,
    `${path}/${id}${isDeletion ? "" : `/${action}`}`,
    isDeletion ? { method } : { method, body },
  )
  const build = textOf(answer, "build_id")
  const run = command === "runs" ? textOf(answer, "id") : ""
  if (context.flags.has("wait") && !isDeletion) {
    if (run !== "") return followRun(context, api, answer, action === "cancel" ? "cancelled" : "succeeded")
    if (build !== "") return followRecord(context, api, "build", build, "completed")
    return followRecord(context, api, "deployment", id, action === "stop" ? "stopped" : "active")
  }
  if (!isDeletion && textOf(answer, "status") !== "cancelled") {
    const where = build === "" ? `${command} ${run === "" ? id : run}` : `builds ${build}`
    context.note(`It continues on the server (--wait waits for it). Next: svc ${where}`)
  }
  return { json: answer, text: (style) => recordText(answer, style, parts) }
}

const recordsCommand =
  (records: Records): Run =>
  async (context) => {
    const [first, second] = context.args
    const { path, columns, parts, actions = {} } = records
    const method = first !== undefined && Object.hasOwn(actions, first) ? actions[first] : undefined
    if (method !== undefined) return act(context, records, method)
    if (second !== undefined) {
      throw usageError(`Unknown action: ${first}. Actions: ${Object.keys(actions).join(", ")}.`)
    }
    if (context.options["to"] !== undefined) throw usageError("--to is only for rollback.")
    const api = await apiForReading(context)
    if (first !== undefined) {
      const record = await callJson(api, `${path}/${idOf(first)}`)
      return { json: record, text: (style) => recordText(record, style, parts) }
    }
    const list = await readPages(api, path)
    return {
      json: list,
      text: (style) =>
        table(
          headingOf(columns),
          list.map((record) => rowOf(record, columns)),
          style,
        ),
    }
  }

/** `svc specs`: specs that the key's owner has, or that are shared with it. */
export const specs = recordsCommand({
  command: "specs",
  path: "/api/specs",
  columns: ["id", "name", "latest_version", "visibility", "websocket_url"],
})

export const builds = recordsCommand({
  command: "builds",
  path: "/api/builds",
  columns: ["id", "spec_id", "status", "phase", "status_message", "created_at"],
  parts: buildParts,
})

export const deployments = recordsCommand({
  command: "deployments",
  path: "/api/deployments",
  columns: ["id", "spec_name", "status", "current_version", "last_deployed_at"],
  actions: { stop: "POST", restart: "POST", rollback: "POST", delete: "DELETE" },
})

export const runs = recordsCommand({
  command: "runs",
  path: "/api/automation/runs",
  columns: ["id", "workflow", "spec_id", "status", "attempt", "error_message", "created_at"],
  parts: runParts,
  actions: { resume: "POST", retry: "POST", cancel: "POST" },
})
