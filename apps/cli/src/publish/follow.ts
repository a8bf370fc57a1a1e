// Waits for runs, builds and deployments.
import { setTimeout as delay } from "node:timers/promises"
import { isObject } from "@svc/common/json-object"
import type { Context, Outcome } from "../command.ts"
import { CliError } from "../errors.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { buildParts, recordText, runParts } from "../output/record-text.ts"
import { type Api, callJson } from "../services/api.ts"

const pollMs = 500
/** How many polls there are between looks at the build, which may wait for the operator. */
const pollsBetween = 4

const currentStep = (run: unknown): unknown =>
  listOf(run, "steps").find((one) => ["running", "failed"].includes(textOf(one, "status")))

const placeOf = (run: unknown): string => {
  const name = textOf(currentStep(run), "name")
  return name === "" ? "" : ` at ${name}`
}

const progressOf = (run: unknown): string => {
  const steps = listOf(run, "steps")
  const over = steps.filter((step) => ["succeeded", "skipped"].includes(textOf(step, "status"))).length
  return `Run ${textOf(run, "id")}: ${textOf(run, "status")}${placeOf(run)} (${over} of ${steps.length} steps)`
}

/** The message of a run's build if that waits for the operator, else an empty string. */
const operatorMessage = async (api: Api, run: unknown): Promise<string> => {
  if (textOf(currentStep(run), "name") !== "build") return ""
  const list = await callJson(api, "/api/builds?limit=100")
  const own = (Array.isArray(list) ? (list as unknown[]) : []).find(
    (build) => textOf(build, "spec_id") === textOf(run, "spec_id") && textOf(build, "status") === "pushing",
  )
  const message = textOf(own, "status_message")
  return message.startsWith("waits for the operator") ? message : ""
}

const colon = (text: string): string => (text === "" ? "" : `: ${text}`)

const recordError = (code: string, kind: string, record: unknown, message: string, next: string): CliError =>
  new CliError(code, message, { next: `Next: ${next}`, extra: isObject(record) ? { [kind]: record } : {} })

/** Waits until a run ends or waits for somebody. Throws unless it ends as wanted. */
export const followRun = async (
  context: Context,
  api: Api,
  begun: unknown,
  wanted: "succeeded" | "cancelled",
): Promise<Outcome> => {
  const id = textOf(begun, "id")
  let run = begun
  const runError = (code: string, message: string, next: string): CliError =>
    recordError(code, "run", run, `Run ${id} ${message}.`, next)
  try {
    for (let poll = 1; ["queued", "running", "cancelling"].includes(textOf(run, "status")); poll++) {
      context.progress(progressOf(run))
      await delay(pollMs)
      run = await callJson(api, `/api/automation/runs/${id}`)
      const message = poll % pollsBetween === 0 ? await operatorMessage(api, run) : ""
      if (message !== "") {
        throw runError("run-waiting", message, `ask the operator; the run continues by itself: svc runs ${id}`)
      }
    }
  } finally {
    context.progress("")
  }
  const status = textOf(run, "status")
  if (status === wanted) return { json: run, text: (style) => recordText(run, style, runParts) }
  if (status === "waiting") {
    const why = textOf(currentStep(run), "error_message").replace(/^breaking-change: /, "the change breaks readers: ")
    throw runError("run-waiting", `waits for approval${colon(why)}`, `svc runs resume ${id}, or svc runs cancel ${id}`)
  }
  const message = `${status}${placeOf(run)}${colon(textOf(run, "error_message"))}`
  throw runError("run-failed", message, `svc runs ${id}, then svc runs retry ${id}`)
}

/** Polls a record until it has one of these statuses. */
const poll = async (context: Context, api: Api, path: string, what: string, ends: readonly string[]) => {
  try {
    for (;;) {
      const record = await callJson(api, path)
      const status = textOf(record, "status")
      const reason = colon(textOf(record, "status_message"))
      if (ends.includes(status)) return { record, status, reason }
      context.progress(`${what}: ${status}${reason}`)
      await delay(pollMs)
    }
  } finally {
    context.progress("")
  }
}

/** Waits for the end of a build. */
export const followBuild = async (context: Context, api: Api, id: string): Promise<Outcome> => {
  const what = `Build ${id}`
  const { record, status, reason } = await poll(context, api, `/api/builds/${id}`, what, [
    "completed",
    "failed",
    "cancelled",
  ])
  if (status === "completed") return { json: record, text: (style) => recordText(record, style, buildParts) }
  throw recordError("build-failed", "build", record, `${what} ${status}${reason}.`, `svc builds ${id}`)
}

/** Waits until nothing more is done to a deployment. */
export const followDeployment = async (
  context: Context,
  api: Api,
  id: string,
  wanted: "active" | "stopped",
): Promise<Outcome> => {
  const what = `Deployment ${id}`
  const { record, status, reason } = await poll(context, api, `/api/deployments/${id}`, what, [
    "active",
    "stopped",
    "failed",
  ])
  if (status === wanted) return { json: record, text: (style) => recordText(record, style) }
  throw recordError(
    "deployment-failed",
    "deployment",
    record,
    `${what} is ${status}${reason}.`,
    `svc deployments ${id}`,
  )
}
