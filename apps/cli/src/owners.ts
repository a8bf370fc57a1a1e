import { setTimeout as delay } from "node:timers/promises"
import { callApi, jsonOf, readPages, type Api } from "./api.ts"
import type { Context, Outcome } from "./context.ts"
import { CliError, usageError } from "./errors.ts"
import { isObject, listOf, parseJson, textOf } from "./json-value.ts"
import { apiForReading, apiOfOwner } from "./key.ts"
import { pairs, table } from "./table.ts"
import { readJson, textOfFile, versionOption } from "./versions.ts"

/** What a command of owners lists, shows and does. */
type Records = {
  readonly command: string
  readonly path: string
  /** Members that a list shows. */
  readonly columns: readonly string[]
  /** What can be done to one, and how that is asked. */
  readonly actions: Readonly<Record<string, "POST" | "DELETE">>
}

const shown = (record: unknown): string =>
  pairs(
    Object.entries(isObject(record) ? record : {}).map(([name, value]) => [
      name,
      typeof value === "object" && value !== null ? JSON.stringify(value) : textOf(record, name),
    ]),
  )

const idOf = (text: string | undefined, command: string): string => {
  if (text === undefined || !/^[1-9]\d{0,9}$/.test(text)) throw usageError(`ID is a number: svc ${command}.`, command)
  return text
}

const act = async (context: Context, { command, path }: Records, method: "POST" | "DELETE"): Promise<Outcome> => {
  const [action = "", text] = context.args
  const id = idOf(text, command)
  const to = versionOption(context, "to", command)
  if (to !== undefined && action !== "rollback") throw usageError("--to goes with rollback.", command)
  const api = await apiOfOwner(context)
  const target = method === "DELETE" ? `${path}/${id}` : `${path}/${id}/${action}`
  const body = to === undefined ? {} : { to_version: Number(to) }
  const answer = jsonOf(await callApi(api, target, method === "DELETE" ? { method } : { method, body }), api.url)
  return { json: answer, text: shown(answer) }
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
      return { json: record, text: shown(record) }
    }
    const list = await readPages(api, path, "limit=100")
    const rows = list.map((record) => columns.map((name) => textOf(record, name)))
    const heading = columns.map((name) => name.replaceAll("_", " ").toUpperCase())
    return { json: list, text: table(heading, rows, context.bold) }
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
  actions: { resume: "POST", retry: "POST", cancel: "POST" },
})

const readAst = async (file: string): Promise<unknown> => {
  const text = await textOfFile(file)
  if (text === undefined) throw new CliError("unreadable-file", `${file} is not there.`)
  const ast = parseJson(text)
  if (!isObject(ast)) throw new CliError("invalid-ast", `${file} is no JSON object: an AST is wanted.`)
  return ast
}

/** The spec of this name, made or changed as the options say; its id. */
const prepareSpec = async (context: Context, api: Api, name: string): Promise<number> => {
  const { "websocket-url": url, visibility } = context.options
  const changes = {
    ...(url === undefined ? {} : { websocket_url: url }),
    ...(visibility === undefined ? {} : { visibility }),
  }
  const old = (await readPages(api, "/api/specs", "limit=100")).find((spec) => textOf(spec, "name") === name)
  if (old === undefined) {
    const made = await callApi(api, "/api/specs", { method: "POST", body: { name, ...changes } })
    return Number(textOf(jsonOf(made, api.url), "id"))
  }
  const id = Number(textOf(old, "id"))
  if (Object.keys(changes).length > 0) {
    await callApi(api, `/api/specs/${id}`, { method: "PUT", body: changes })
    if (visibility === "public" && textOf(old, "visibility") !== "public") {
      context.note(`${name} turns public: from now on everybody can read all its versions.`)
    }
  }
  return id
}

const stepOf = (run: unknown): string => {
  const step = listOf(run, "steps").find((one) => ["running", "failed"].includes(textOf(one, "status")))
  return step === undefined ? "" : ` at ${textOf(step, "name")}`
}

/** Follows a run until it ends or waits for somebody. */
const follow = async (context: Context, api: Api, begun: unknown): Promise<Outcome> => {
  const id = textOf(begun, "id")
  let run = begun
  try {
    while (["queued", "running", "cancelling"].includes(textOf(run, "status"))) {
      context.progress(`Run ${id}: ${textOf(run, "status")}${stepOf(run)}`)
      await delay(500)
      run = await readJson(api, `/api/automation/runs/${id}`)
    }
  } finally {
    context.progress("")
  }
  const status = textOf(run, "status")
  if (status === "succeeded") return { json: run, text: shown(run) }
  const extra = isObject(run) ? { run } : {}
  if (status === "waiting") {
    throw new CliError("run-waiting", `Run ${id} waits for approval: the change breaks readers.`, {
      next: `Next: svc runs resume ${id}, or svc runs cancel ${id}`,
      extra,
    })
  }
  const reason = textOf(run, "error_message")
  throw new CliError("run-failed", `Run ${id} ${status}${stepOf(run)}${reason === "" ? "" : `: ${reason}`}.`, {
    next: `Next: svc runs ${id}, then svc runs retry ${id}`,
    extra,
  })
}

/** `svc push FILE --name N`: publishes an AST as the next version of a spec, and follows that to its end. */
export const push = async (context: Context): Promise<Outcome> => {
  const { name, branch } = context.options
  if (name === undefined) throw usageError("--name NAME is missing: the stack's name in the registry.", "push")
  const ast = await readAst(context.args[0] ?? "")
  const api = await apiOfOwner(context)
  const spec = await prepareSpec(context, api, name)
  const body = {
    workflow: "publish",
    spec_id: spec,
    ast_payload: ast,
    ...(branch === undefined ? {} : { branch }),
    ...(context.flags.has("allow-breaking") ? { allow_breaking: true } : {}),
  }
  const begun = jsonOf(await callApi(api, "/api/automation/runs", { method: "POST", body }), api.url)
  context.note(`Run ${textOf(begun, "id")} has begun; it goes on without this command: svc runs ${textOf(begun, "id")}`)
  return follow(context, api, begun)
}
