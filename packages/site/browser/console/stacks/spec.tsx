import type { Diff, Spec, SpecVersion } from "@svc/client"
import { useState } from "preact/hooks"
import { useApi } from "../api.ts"
import { AsCurl } from "../as-curl.tsx"
import { Failure } from "../failure.tsx"
import { ListTable, NotRead } from "../list-table.tsx"
import { brief, when } from "../text.ts"
import { useList, useRead } from "../use-read.ts"
import { ChangesList } from "./changes-list.tsx"
import { deploymentRequests, Deployments } from "./deployments.tsx"
import { RunsTable, runsPath } from "./runs-table.tsx"

const Difference = ({ path }: { readonly path: string }) => {
  const { body: diff, error } = useRead<Diff>(path)
  return (
    <>
      <Failure error={error} isRead />
      {diff !== undefined && (
        <section aria-label={`Version ${diff.to} against ${diff.from}`}>
          <h4>
            Version {diff.to} against {diff.from}
          </h4>
          <ChangesList {...diff} />
        </section>
      )}
    </>
  )
}

export const SpecView = ({ id }: { readonly id: number }) => {
  const { isPerson } = useApi()
  const path = `/api/specs/${id}`
  const versionsPath = `${path}/versions?limit=50`
  const { body: spec, error } = useRead<Spec>(path)
  const versions = useList<SpecVersion>(versionsPath)
  const [shown, show] = useState<number>()
  const diffPath = shown === undefined ? undefined : `${path}/diff?from=${shown - 1}&to=${shown}`
  const rows = (versions.items ?? []).map(({ version_number: number, state_name: state, message, created_at: at }) => [
    String(number),
    when(at),
    <span class="written">{brief(state, 64)}</span>,
    <span class="written">{brief(message ?? "", 200)}</span>,
    number === 1 ? (
      ""
    ) : (
      <button type="button" aria-pressed={shown === number} onClick={() => show(shown === number ? undefined : number)}>
        Difference from {number - 1}
      </button>
    ),
  ])
  return (
    <>
      <Failure error={error} isRead />
      {(spec ?? error) === undefined && <NotRead />}
      {spec !== undefined && (
        <>
          <p>
            <span class="badge">{brief(spec.visibility, 40)}</span>
            {spec.deprecated !== undefined && <span class="badge warn">deprecated</span>}
          </p>
          {spec.deprecated !== undefined && (
            <p class="note care">
              {brief(spec.deprecated.message)}
              <br />
              {spec.deprecated.successor !== undefined && `Use ${brief(spec.deprecated.successor, 64)}.`}
            </p>
          )}
          <p>{brief(spec.description ?? "")}</p>
          <p class="muted">
            Stream: {spec.websocket_url === null ? "set by the operator" : brief(spec.websocket_url, 200)}. Created{" "}
            {when(spec.created_at)}.
            {spec.visibility !== "public" && " The local stream of pnpm start serves public stacks only."}
          </p>
          <h3>Versions</h3>
          <ListTable
            list={versions}
            label="Versions"
            heads={["Version", "Created", "Main entity", "Message", "Difference"]}
            rows={rows}
            empty="None yet."
          />
          {diffPath !== undefined && <Difference path={diffPath} />}
          <h3>Deployments</h3>
          <Deployments specId={id} />
          <h3>Runs</h3>
          <RunsTable specId={id} />
        </>
      )}
      <AsCurl
        requests={[
          { path },
          { path: versionsPath },
          { path: diffPath ?? `${path}/diff` },
          ...deploymentRequests(isPerson),
          { path: runsPath },
        ]}
      />
    </>
  )
}
