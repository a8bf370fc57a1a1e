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

type Following = {
  readonly path: string
  readonly goesOn: (status: string) => boolean
  readonly progress: (record: unknown) => string
  readonly look?: (record: unknown, polls: number) => Promise<void>
}

/** Polls a record until it no longer goes on. */
const follow = async (context: Context, api: Api, begun: unknown, { path, goesOn, progress, look }: Following) => {
  let record = begun ?? (await callJson(api, path))
  try {
    for (let polls = 1; goesOn(textOf(record, "status")); polls++) {
      context.progress(progress(record))
      await delay(pollMs)
      record = await callJson(api, path)
      await look?.(record, polls)
    }
    return record
  } finally {
    context.progress("")
  }
}

/** Waits until a run ends or waits for somebody. Throws unless it ends as wanted. */
export const followRun = async (
  context: Context,
  api: Api,
  begun: unknown,
  wanted: "succeeded" | "cancelled",
): Promise<Outcome> => {
  const id = textOf(begun, "id")
  const runError = (run: unknown, code: string, message: string, next: string): CliError =>
    recordError(code, "run", run, `Run ${id} ${message}.`, next)
  const run = await follow(context, api, begun, {
    path: `/api/automation/runs/${id}`,
    goesOn: (status) => ["queued", "running", "cancelling"].includes(status),
    progress: progressOf,
    look: async (now, polls) => {
      const message = polls % pollsBetween === 0 ? await operatorMessage(api, now) : ""
      if (message === "") return
      throw runError(now, "run-waiting", message, `ask the operator; the run continues by itself: svc runs ${id}`)
    },
  })
  const status = textOf(run, "status")
  if (status === wanted) return { json: run, text: (style) => recordText(run, style, runParts) }
  if (status === "waiting") {
    const why = textOf(currentStep(run), "error_message").replace(/^breaking-change: /, "the change breaks readers: ")
    const next = `svc runs resume ${id}, or svc runs cancel ${id}`
    throw runError(run, "run-waiting", `waits for approval${colon(why)}`, next)
  }
  const message = `${status}${placeOf(run)}${colon(textOf(run, "error_message"))}`
  throw runError(run, "run-failed", message, `svc runs ${id}, then svc runs retry ${id}`)
}

const records = {
  build: { path: "/api/builds", ends: ["completed", "failed", "cancelled"], is: "", parts: buildParts },
  deployment: { path: "/api/deployments", ends: ["active", "stopped", "failed"], is: " is", parts: undefined },
} as const

/** Waits for the end of a build, or until nothing more is done to a deployment. Throws unless it ends as wanted. */
export const followRecord = async (
  context: Context,
  api: Api,
  kind: keyof typeof records,
  id: string,
  wanted: "completed" | "active" | "stopped",
): Promise<Outcome> => {
  const { path, ends, is, parts } = records[kind]
  const what = `${kind === "build" ? "Build" : "Deployment"} ${id}`
  const statusOf = (record: unknown) => `${textOf(record, "status")}${colon(textOf(record, "status_message"))}`
  const record = await follow(context, api, undefined, {
    path: `${path}/${id}`,
    goesOn: (status) => !ends.some((end) => end === status),
    progress: (now) => `${what}: ${statusOf(now)}`,
  })
  if (textOf(record, "status") === wanted) return { json: record, text: (style) => recordText(record, style, parts) }
  throw recordError(`${kind}-failed`, kind, record, `${what}${is} ${statusOf(record)}.`, `svc ${kind}s ${id}`)
}
