import type { RunWithSteps } from "@svc/client"
import { useState } from "preact/hooks"
import { root } from "../../dom.ts"
import { useApi } from "../api.ts"
import { AsCurl } from "../as-curl.tsx"
import { Failure } from "../failure.tsx"
import { useTry } from "../use-read.ts"
import { RunLog } from "./run-log.tsx"
import { SpecName } from "./spec-name.tsx"
import { Status } from "./status.tsx"
import { useRun } from "./use-run.ts"

const labels = { resume: "Approve and go on", cancel: "Cancel", retry: "Retry" } as const
type Verb = keyof typeof labels

const verbsOf = ({ status }: RunWithSteps): readonly Verb[] => {
  if (status === "waiting") return ["resume", "cancel"]
  if (status === "queued" || status === "running") return ["cancel"]
  return status === "failed" || status === "cancelled" ? ["retry"] : []
}

/** A run: its steps as they happen, and what its owner can do. */
export const RunView = ({ id }: { readonly id: number }) => {
  const { ask, isPerson } = useApi()
  const [round, setRound] = useState(0)
  const state = useRun(id, round)
  const { error, isBusy, attempt } = useTry()
  const { run } = state
  const path = `/api/automation/runs/${id}`
  const act = (verb: Verb): Promise<void> =>
    attempt(async () => {
      const { body } = await ask<RunWithSteps>({ method: "POST", path: `${path}/${verb}`, body: {} })
      if (body.id === id) setRound(round + 1)
      // A retry is a run of its own.
      else location.hash = `#/runs/${body.id}`
    })
  return (
    <>
      <Failure error={error ?? state.error} />
      {run !== undefined && (
        <>
          <div class="controls">
            <span role="status">
              <Status status={run.status} why={run.error_message} />
            </span>
            {run.spec_id !== null && (
              <a href={`#/specs/${run.spec_id}`}>
                <SpecName id={run.spec_id} />
              </a>
            )}
            {isPerson &&
              verbsOf(run).map((verb) => (
                <button key={verb} type="button" disabled={isBusy} onClick={() => act(verb)}>
                  {labels[verb]}
                </button>
              ))}
          </div>
          {run.status === "waiting" && (
            <p class="note care">
              The run waits for you: what it publishes breaks readers, or was to be approved first.
            </p>
          )}
          <RunLog {...state} />
          {run.status === "succeeded" && run.spec_id !== null && (
            <p>
              Next: <a href={`#/specs/${run.spec_id}`}>its versions and its deployment</a>, or{" "}
              <a href={`${root}/stacks`}>the public stacks</a>.
            </p>
          )}
        </>
      )}
      <AsCurl
        requests={[
          { path },
          { path: `${path}/events`, isStream: true },
          ...(isPerson && run !== undefined ? verbsOf(run) : []).map(
            (verb) => ({ method: "POST", path: `${path}/${verb}`, body: {} }) as const,
          ),
        ]}
      />
    </>
  )
}
