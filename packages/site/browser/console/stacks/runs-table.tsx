import type { Spec, Run } from "@svc/client"
import { brief, when } from "../text.ts"
import { useRead, useList } from "../use-read.ts"
import { ListTable } from "../list-table.tsx"
import { Status } from "./status.tsx"

/** The names of the account's specs: people don't know ids. */
const useSpecNames = (): ((id: number) => string) => {
  const { body } = useRead<readonly Spec[]>("/api/specs?limit=100")
  return (id) => brief(body?.find((spec) => spec.id === id)?.name ?? `spec ${id}`, 64)
}

export const SpecName = ({ id }: { readonly id: number }) => <>{useSpecNames()(id)}</>

export const runsPath = "/api/automation/runs?limit=20"
const lookMs = 10_000

/** Publish runs, newest first. @param specId those of one spec; undefined: all */
export const RunsTable = ({ specId }: { readonly specId: number | undefined }) => {
  const list = useList<Run>(runsPath, lookMs)
  const nameOf = useSpecNames()
  const runs = (list.items ?? []).filter((run) => specId === undefined || run.spec_id === specId)
  const rows = runs.map((run) => [
    <a href={`#/runs/${run.id}`}>Run {run.id}</a>,
    run.spec_id === null ? "" : <a href={`#/specs/${run.spec_id}`}>{nameOf(run.spec_id)}</a>,
    <Status status={run.status} why={run.error_message} />,
    when(run.created_at),
    when(run.completed_at),
  ])
  return (
    <ListTable
      list={list}
      label="Runs"
      heads={["Run", "Stack", "Status", "Created", "Ended"]}
      rows={rows}
      empty="None among the latest."
    />
  )
}
