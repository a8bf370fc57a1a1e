import type { Build, BuildWithEvents, RunWithSteps, Spec } from "@svc/client"
import { useState } from "preact/hooks"
import { root } from "../../dom.ts"
import { useApi } from "../api.ts"
import { AsCurl } from "../as-curl.tsx"
import { Confirm } from "../confirm.tsx"
import { Failure, lookFirst, mayBeDone } from "../failure.tsx"
import { NotRead } from "../list-table.tsx"
import { brief } from "../text.ts"
import { useRead, useTry } from "../use-read.ts"
import { SpecName } from "./runs-table.tsx"
import { isOver, Status } from "./status.tsx"

const lookMs = 2000
const untilOver = (run: RunWithSteps): number | undefined => (isOver(run) ? undefined : lookMs)

const useBuild = (run: RunWithSteps | undefined): BuildWithEvents | undefined => {
  const began = run?.steps.find(({ name }) => name === "build")?.started_at ?? undefined
  const everyMs = run && untilOver(run)
  const builds = useRead<readonly Build[]>(began && "/api/builds?limit=100", everyMs).body
  // A build doesn't name its run: it is the spec's first one since the run's step began.
  const isItsOwn = ({ spec_id: spec, created_at: at }: Build): boolean =>
    spec === run?.spec_id && Date.parse(at) >= Date.parse(began ?? "")
  const build = builds?.findLast(isItsOwn)
  return useRead<BuildWithEvents>(build && `/api/builds/${build.id}`, everyMs).body
}

type Line = { readonly at: string; readonly text: string }

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })

const linesOf = (run: RunWithSteps, build: BuildWithEvents | undefined): readonly Line[] => {
  const lines: { at: string | null; text: string }[] = [{ at: run.created_at, text: `run ${run.id}: taken` }]
  for (const { name, status, started_at: began, completed_at: ended, error_message: message } of run.steps) {
    lines.push({ at: began, text: `${name}: began` })
    lines.push({ at: ended, text: `${name}: ${status}${message === null ? "" : `: ${message}`}` })
    if (ended === null && message !== null) lines.push({ at: began, text: `${name}: ${message}` })
  }
  for (const { event_type: type, phase, new_status: status, created_at: at } of build?.events ?? [])
    lines.push({ at, text: `build ${build?.id}: ${[type, status, phase].filter((part) => part !== null).join(" ")}` })
  const end = run.error_message === null ? run.status : `${run.status}: ${run.error_message}`
  const inOrder = lines
    .flatMap(({ at, text }) => (at === null ? [] : [{ at, text }]))
    .sort((a, b) => a.at.localeCompare(b.at))
  // Its last step may have been noted a moment later.
  return run.completed_at === null ? inOrder : [...inOrder, { at: run.completed_at, text: `run ${run.id}: ${end}` }]
}

/** What the version that a run publishes breaks, where it breaks readers. */
const brokenBy = (run: RunWithSteps | undefined): string | undefined => {
  const message = run?.steps.find(({ name }) => name === "approve")?.error_message
  return message?.startsWith("breaking-change: ") ? message.slice("breaking-change: ".length) : undefined
}

type LogProps = { readonly run: RunWithSteps; readonly build: BuildWithEvents | undefined }

const RunLog = ({ run, build }: LogProps) => (
  <div class="log" role="log" aria-label="Log of the run" tabIndex={0}>
    <ol>
      {linesOf(run, build).map(({ at, text }, index) => (
        <li key={index}>
          <time dateTime={at}>{clock.format(new Date(at))}</time> {brief(text)}
        </li>
      ))}
    </ol>
  </div>
)

const labels = { resume: "Approve and go on", cancel: "Cancel", retry: "Retry" } as const
type Verb = keyof typeof labels

const verbsOf: Readonly<Record<string, readonly Verb[]>> = {
  queued: ["cancel"],
  running: ["cancel"],
  waiting: ["resume", "cancel"],
  cancelling: [],
  succeeded: [],
  failed: ["retry"],
  cancelled: ["retry"],
} satisfies Record<RunWithSteps["status"], readonly Verb[]>

export const RunView = ({ id }: { readonly id: number }) => {
  const { ask, isPerson } = useApi()
  const path = `/api/automation/runs/${id}`
  const { body: run, error: readError, again } = useRead<RunWithSteps>(path, untilOver)
  const build = useBuild(run)
  const { body: spec, error: noSpec } = useRead<Spec>(
    run && run.spec_id !== null && isOver(run) ? `/api/specs/${run.spec_id}` : undefined,
  )
  const isGone = noSpec?.status === 404
  const { error, isBusy, attempt } = useTry()
  const [asking, setAsking] = useState<"resume" | "retry">()
  const broken = brokenBy(run)
  const verbs = (isPerson && !isGone && verbsOf[run?.status ?? ""]) || []
  const act = async (verb: Verb): Promise<void> => {
    const { body } = await ask<RunWithSteps>({ method: "POST", path: `${path}/${verb}`, body: {} })
    if (body.id === id) again()
    // A retry is a run of its own.
    else location.hash = `#/runs/${body.id}`
  }
  return (
    <>
      <Failure error={error ?? readError} isRead={error === undefined} />
      {(run ?? readError) === undefined && <NotRead />}
      {mayBeDone(error) && <p>{lookFirst}</p>}
      {run !== undefined && (
        <>
          <div class="controls">
            <span role="status">
              <Status status={run.status} why={run.error_message} />
            </span>
            {isGone && <span>of a deleted spec</span>}
            {run.spec_id !== null && !isGone && (
              <a href={`#/specs/${run.spec_id}`}>
                <SpecName id={run.spec_id} />
              </a>
            )}
            {verbs.map((verb) => (
              <button
                key={verb}
                type="button"
                aria-disabled={isBusy}
                onClick={() => (verb === "cancel" ? attempt(() => act(verb)) : setAsking(verb))}
              >
                {labels[verb]}
              </button>
            ))}
          </div>
          {run.status === "waiting" && (
            <p class="note care">
              {broken === undefined
                ? "The run waits for your approval."
                : "The run waits for your approval: what it publishes breaks readers."}
            </p>
          )}
          {asking === "retry" && (
            <Confirm
              title={`Retry run ${id}?`}
              verb="Retry"
              isEnd={false}
              onConfirm={() => act("retry")}
              onClose={() => setAsking(undefined)}
            >
              <p>
                A new run publishes the same version. If that breaks readers, it waits for your approval, unless this
                run was allowed to from the start or its build was completed.
              </p>
            </Confirm>
          )}
          {asking === "resume" && (
            <Confirm
              title={`Approve run ${id}?`}
              verb={broken === undefined ? "Publish" : "Publish and break readers"}
              isEnd={broken !== undefined}
              onConfirm={() => act("resume")}
              onClose={() => setAsking(undefined)}
            >
              <p>
                {broken === undefined
                  ? "The run goes on and publishes its version."
                  : "Readers that use what was removed or changed stop working:"}
              </p>
              <ul>
                {broken?.split("; ").map((text) => (
                  <li key={text}>{brief(text, 300)}</li>
                ))}
              </ul>
            </Confirm>
          )}
          <RunLog run={run} build={build} />
          {spec !== undefined && run.status === "succeeded" && (
            <p>
              Next: <a href={`#/specs/${spec.id}`}>its versions and its deployment</a>
              {spec.visibility === "public" && (
                <>
                  , or <a href={`${root}/stacks/${encodeURIComponent(spec.name)}`}>its public page</a>
                </>
              )}
              .
            </p>
          )}
        </>
      )}
      <AsCurl
        requests={[{ path }, ...verbs.map((verb) => ({ method: "POST", path: `${path}/${verb}`, body: {} }) as const)]}
      />
    </>
  )
}
