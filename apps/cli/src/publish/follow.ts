// Owners' records until they are where they were meant to be.
import { setTimeout as delay } from "node:timers/promises"
import type { Api } from "../services/api.ts"
import type { Context, Outcome } from "../context.ts"
import { CliError } from "../errors.ts"
import { isObject } from "@svc/common/json-object"
import { listOf, textOf } from "../output/json-value.ts"
import { buildParts, runParts, shown } from "../output/record-text.ts"
import { readJson } from "../explore/versions.ts"

const pollMs = 500
/** Every so many looks the build is looked at too: it may wait for the operator. */
const looksBetween = 4

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

/** Follows a run until it ends or waits for somebody; another end than the wanted one is a failure. */
export const followRun = async (
  context: Context,
  api: Api,
  begun: unknown,
  wanted: "succeeded" | "cancelled",
): Promise<Outcome> => {
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
  if (status === wanted) return { json: run, text: shown(run, context, runParts) }
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

/** A record once it is in none of the states on the way. */
const ended = async (context: Context, api: Api, path: string, what: string, over: readonly string[]) => {
  try {
    for (;;) {
      const record = await readJson(api, path)
      const status = textOf(record, "status")
      const message = textOf(record, "status_message")
      if (over.includes(status)) return { record, status, message }
      context.progress(`${what}: ${status}${message === "" ? "" : `, ${message}`}`)
      await delay(pollMs)
    }
  } finally {
    context.progress("")
  }
}

/** Follows a build to its end. */
export const followBuild = async (context: Context, api: Api, id: string): Promise<Outcome> => {
  const over = ["completed", "failed", "cancelled"]
  const { record, status, message } = await ended(context, api, `/api/builds/${id}`, `Build ${id}`, over)
  if (status === "completed") return { json: record, text: shown(record, context, buildParts) }
  throw new CliError("build-failed", `Build ${id} ${status}${message === "" ? "" : `: ${message}`}.`, {
    next: `Next: svc builds ${id}`,
    extra: isObject(record) ? { build: record } : {},
  })
}

/** Follows a deployment until nothing is done to it any more. */
export const followDeployment = async (
  context: Context,
  api: Api,
  id: string,
  wanted: "active" | "stopped",
): Promise<Outcome> => {
  const over = ["active", "stopped", "failed"]
  const { record, status, message } = await ended(context, api, `/api/deployments/${id}`, `Deployment ${id}`, over)
  if (status === wanted) return { json: record, text: shown(record, context) }
  throw new CliError("deployment-failed", `Deployment ${id} is ${status}${message === "" ? "" : `: ${message}`}.`, {
    next: `Next: svc deployments ${id}`,
    extra: isObject(record) ? { deployment: record } : {},
  })
}
