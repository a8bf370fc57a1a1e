import type { Build, BuildWithEvents, RunWithSteps } from "@svc/client"
import { SvcError } from "@svc/client/http"
import { useEffect, useState } from "preact/hooks"
import { type Api, unexpected, useApi } from "../api.ts"

export type RunState = {
  readonly run: RunWithSteps | undefined
  /** The build that the run started, once there is one. */
  readonly build: BuildWithEvents | undefined
  readonly error: SvcError | undefined
}

const isOver: Readonly<Record<RunWithSteps["status"], boolean>> = {
  queued: false,
  running: false,
  waiting: false,
  cancelling: false,
  succeeded: true,
  failed: true,
  cancelled: true,
}
const retryMs = 3000

const readRun = async ({ ask }: Api, id: number): Promise<Pick<RunState, "run" | "build">> => {
  const run = (await ask<RunWithSteps>({ path: `/api/automation/runs/${id}` })).body
  const step = run.steps.find(({ name }) => name === "build")
  if (step?.started_at == null) return { run, build: undefined }
  const builds = (await ask<readonly Build[]>({ path: "/api/builds?limit=100" })).body
  // A build doesn't name its run: it is the spec's first one since the run's step began.
  const began = Date.parse(step.started_at)
  const build = builds.findLast((one) => one.spec_id === run.spec_id && Date.parse(one.created_at) >= began)
  if (build === undefined) return { run, build }
  return { run, build: (await ask<BuildWithEvents>({ path: `/api/builds/${build.id}` })).body }
}

/** Reads a run each time its stream of events says something, until the run is over. `round`: begins anew. */
export const useRun = (id: number, round: number): RunState => {
  const api = useApi()
  const [state, setState] = useState<RunState>({ run: undefined, build: undefined, error: undefined })
  useEffect(() => {
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<boolean> => {
      const read = await readRun(api, id).catch((thrown: unknown) => {
        throw unexpected(thrown)
      })
      if (!leaving.signal.aborted) setState({ ...read, error: undefined })
      return read.run === undefined || isOver[read.run.status]
    }
    const follow = async (): Promise<void> => {
      if (await look()) return
      const reader = (await api.open(`/api/automation/runs/${id}/events`, leaving.signal)).getReader()
      const decoder = new TextDecoder()
      for (;;) {
        const { done, value } = await reader.read()
        if (done || (decoder.decode(value, { stream: true }).includes("event:") && (await look()))) break
      }
      await reader.cancel()
      // The stream may have ended for another reason than the run.
      if (!(await look())) timer = setTimeout(begin, retryMs)
    }
    const begin = (): void => {
      follow().catch((thrown: unknown) => {
        if (leaving.signal.aborted) return
        const error = thrown instanceof SvcError ? thrown : undefined
        setState((known) => ({ ...known, error }))
        const mayPass = error === undefined || error.retryable || error.code === "limit-reached"
        if (mayPass) timer = setTimeout(begin, Math.max(retryMs, error?.retryAfterMs ?? 0))
      })
    }
    begin()
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [id, round])
  return state
}
