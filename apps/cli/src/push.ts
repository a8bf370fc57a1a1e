import { setTimeout as delay } from "node:timers/promises"
import { callApi, jsonOf, readPages, type Api } from "./api.ts"
import type { Context, Outcome } from "./context.ts"
import { CliError, usageError } from "./errors.ts"
import { isObject, listOf, parseJson, textOf } from "./json-value.ts"
import { apiOfOwner } from "./key.ts"
import { runParts, shown } from "./owners.ts"
import { readJson, textOfFile } from "./versions.ts"

const pollMs = 500
/** Every so many looks the build is looked at too: it may wait for the operator. */
const looksBetween = 4

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

const stepAt = (run: unknown): unknown =>
  listOf(run, "steps").find((one) => ["running", "failed"].includes(textOf(one, "status")))

const stepOf = (run: unknown): string => {
  const name = textOf(stepAt(run), "name")
  return name === "" ? "" : ` at ${name}`
}

/** How far it is, for whoever watches. */
const progressOf = (run: unknown): string => {
  const steps = listOf(run, "steps")
  const over = steps.filter((step) => ["succeeded", "skipped"].includes(textOf(step, "status"))).length
  return `Run ${textOf(run, "id")}: ${textOf(run, "status")}${stepOf(run)} (${over} of ${steps.length} steps)`
}

/** What its build says while it waits for the operator; empty otherwise. */
const operatorsWord = async (api: Api, run: unknown): Promise<string> => {
  if (textOf(stepAt(run), "name") !== "build") return ""
  const list = await readJson(api, "/api/builds?limit=100")
  const own = (Array.isArray(list) ? (list as unknown[]) : []).find(
    (build) => textOf(build, "spec_id") === textOf(run, "spec_id") && textOf(build, "status") === "pushing",
  )
  const message = textOf(own, "status_message")
  return message.startsWith("waits for the operator") ? message : ""
}

/** Follows a run until it ends or waits for somebody. */
const follow = async (context: Context, api: Api, begun: unknown): Promise<Outcome> => {
  const id = textOf(begun, "id")
  let run = begun
  try {
    for (let look = 1; ["queued", "running", "cancelling"].includes(textOf(run, "status")); look++) {
      context.progress(progressOf(run))
      await delay(pollMs)
      run = await readJson(api, `/api/automation/runs/${id}`)
      const held = look % looksBetween === 0 ? await operatorsWord(api, run) : ""
      if (held !== "") {
        const next = `Next: ask the operator; the run goes on by itself: svc runs ${id}`
        throw new CliError("run-waiting", `Run ${id} ${held}.`, { next, extra: isObject(run) ? { run } : {} })
      }
    }
  } finally {
    context.progress("")
  }
  const status = textOf(run, "status")
  if (status === "succeeded") return { json: run, text: shown(run, context, runParts) }
  const extra = isObject(run) ? { run } : {}
  if (status === "waiting") {
    const why = textOf(stepAt(run), "error_message").replace(/^breaking-change: /, "the change breaks readers: ")
    throw new CliError("run-waiting", `Run ${id} waits for approval${why === "" ? "" : `; ${why}`}.`, {
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
