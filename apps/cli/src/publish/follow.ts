import { setTimeout as delay } from "node:timers/promises"
import type { BuildWithEvents, Deployment, RunWithSteps } from "@svc/client"
import type { Context, Outcome } from "../command.ts"
import { CliError } from "../errors.ts"
import { buildParts, recordText, runParts } from "../output/record-text.ts"
import type { Style } from "../output/style.ts"
import { type Api, platformOf } from "../services/api.ts"

/** Whether a run, a build or a deployment goes on without anybody's help. */
const isMoving: Readonly<Record<(RunWithSteps | BuildWithEvents | Deployment)["status"], boolean>> = {
  pending: true,
  uploading: true,
  queued: true,
  building: true,
  pushing: true,
  deploying: true,
  running: true,
  cancelling: true,
  updating: true,
  waiting: false,
  completed: false,
  succeeded: false,
  active: false,
  stopped: false,
  failed: false,
  cancelled: false,
}

const pollMs = 500
/** How many polls there are between looks at the build, which may wait for the operator. */
const pollsBetween = 4

const currentStep = ({ steps }: RunWithSteps) => steps.find(({ status }) => status === "running" || status === "failed")

const placeOf = (run: RunWithSteps): string => {
  const name = currentStep(run)?.name
  return name === undefined ? "" : ` at ${name}`
}

const progressOf = (run: RunWithSteps): string => {
  const over = run.steps.filter(({ status }) => status === "succeeded" || status === "skipped")
  return `Run ${run.id}: ${run.status}${placeOf(run)} (${over.length} of ${run.steps.length} steps)`
}

/** The message of a run's build if that waits for the operator, else an empty string. */
const operatorMessage = async (api: Api, run: RunWithSteps): Promise<string> => {
  if (currentStep(run)?.name !== "build") return ""
  const builds = await platformOf(api).builds.list({ limit: 100 })
  const message = builds.find(({ spec_id, status }) => spec_id === run.spec_id && status === "pushing")?.status_message
  return message?.startsWith("waits for the operator") === true ? message : ""
}

const colon = (text: string | null | undefined): string => (text ? `: ${text}` : "")

type Following<Followed> = {
  readonly read: () => Promise<Followed>
  readonly begun?: Followed
  readonly progress: (record: Followed) => string
  readonly look?: (record: Followed, polls: number) => Promise<void>
}

/** Polls a record until it no longer goes on. */
const follow = async <Followed extends { readonly status: keyof typeof isMoving }>(
  context: Context,
  { read, begun, progress, look }: Following<Followed>,
): Promise<Followed> => {
  let record = begun ?? (await read())
  try {
    for (let polls = 1; isMoving[record.status]; polls++) {
      context.progress(progress(record))
      await delay(pollMs)
      record = await read()
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
  begun: RunWithSteps,
  wanted: "succeeded" | "cancelled",
): Promise<Outcome & { readonly json: RunWithSteps }> => {
  const { id } = begun
  const runError = (run: RunWithSteps, code: string, message: string, next: string): CliError =>
    new CliError(code, `Run ${id} ${message}.`, { next: `Next: ${next}`, extra: { run } })
  const run = await follow(context, {
    read: () => platformOf(api).runs.get(id),
    begun,
    progress: progressOf,
    look: async (now, polls) => {
      const message = polls % pollsBetween === 0 ? await operatorMessage(api, now) : ""
      if (message === "") return
      throw runError(now, "run-waiting", message, `ask the operator; the run continues by itself: svc runs ${id}`)
    },
  })
  const { status } = run
  if (status === wanted) return { json: run, text: (style) => recordText(run, style, runParts) }
  if (status === "waiting") {
    const why = currentStep(run)?.error_message?.replace(/^breaking-change: /, "the change breaks readers: ")
    const next = `svc runs resume ${id}, or svc runs cancel ${id}`
    throw runError(run, "run-waiting", `waits for approval${colon(why)}`, next)
  }
  const message = `${status}${placeOf(run)}${colon(run.error_message)}`
  throw runError(run, "run-failed", message, `svc runs ${id}, then svc runs retry ${id}`)
}

/** Waits for the end of a build or of work on a deployment. Throws unless it ends as wanted. */
export const followRecord = async (
  context: Context,
  api: Api,
  kind: "build" | "deployment",
  id: number,
  wanted: "completed" | "active" | "stopped",
): Promise<Outcome> => {
  const { builds, deployments } = platformOf(api)
  const statusOf = ({ status, status_message }: BuildWithEvents | Deployment) => `${status}${colon(status_message)}`
  const what = kind === "build" ? `Build ${id}` : `Deployment ${id}`
  const record = await follow<BuildWithEvents | Deployment>(context, {
    read: () => (kind === "build" ? builds : deployments).get(id),
    progress: (now) => `${what}: ${statusOf(now)}`,
  })
  const text = (style: Style) =>
    "events" in record ? recordText(record, style, buildParts) : recordText(record, style)
  if (record.status === wanted) return { json: record, text }
  throw new CliError(`${kind}-failed`, `${what}${kind === "build" ? "" : " is"} ${statusOf(record)}.`, {
    next: `Next: svc ${kind}s ${id}`,
    extra: { [kind]: record },
  })
}
