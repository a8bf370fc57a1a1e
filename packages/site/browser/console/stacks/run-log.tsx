import { brief } from "../text.ts"
import type { RunState } from "./use-run.ts"

type Line = { readonly at: string; readonly text: string }

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })

/** What happened to a run, its steps and its build, in order. */
const linesOf = ({ run, build }: RunState): readonly Line[] => {
  if (run === undefined) return []
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

/** A run's log, which grows while it runs. */
export const RunLog = (state: RunState) => (
  <div class="log" role="log" aria-label="Log of the run" tabIndex={0}>
    <ol>
      {linesOf(state).map(({ at, text }, index) => (
        <li key={index}>
          <time dateTime={at}>{clock.format(new Date(at))}</time> {brief(text)}
        </li>
      ))}
    </ol>
  </div>
)
