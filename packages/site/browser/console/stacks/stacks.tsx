import type { Spec } from "@svc/client"
import { useApi } from "../api.ts"
import { AsCurl } from "../as-curl.tsx"
import { ListTable } from "../list-table.tsx"
import { brief, when } from "../text.ts"
import { useList } from "../use-read.ts"
import { deploymentRequests, Deployments } from "./deployments.tsx"
import { type DraftProps, Publish } from "./publish.tsx"
import { RunsTable, runsPath } from "./runs-table.tsx"

const specsPath = "/api/specs?limit=100"
const lookMs = 10_000

const Specs = () => {
  const list = useList<Spec>(specsPath, lookMs)
  const rows = (list.items ?? []).map((spec) => [
    <a href={`#/specs/${spec.id}`}>{brief(spec.name, 64)}</a>,
    <span class="written">{brief(spec.description ?? "", 200)}</span>,
    spec.latest_version === 0 ? "none" : String(spec.latest_version),
    <>
      {brief(spec.visibility, 40)}
      {spec.deprecated !== undefined && <span class="badge warn">deprecated</span>}
    </>,
    when(spec.updated_at),
  ])
  return (
    <ListTable
      list={list}
      label="Specs"
      heads={["Stack", "Description", "Latest version", "Visible to", "Changed"]}
      rows={rows}
      empty="None yet."
    />
  )
}

/** The account's stacks: specs, deployments and runs. A person publishes here; an agent sees what it may read. */
export const StacksView = (draft: DraftProps) => {
  const { isPerson } = useApi()
  return (
    <>
      {isPerson ? (
        <Publish {...draft} />
      ) : (
        <p class="note">
          An agent sees the stacks that are shared with it. Only a person's key (svc_sk_…) publishes and changes them.
        </p>
      )}
      <h3>Specs</h3>
      <Specs />
      <h3>Deployments</h3>
      <Deployments specId={undefined} />
      <h3>Runs</h3>
      <RunsTable specId={undefined} />
      <AsCurl
        requests={[
          { path: specsPath },
          ...deploymentRequests(isPerson),
          { path: runsPath },
          ...(isPerson
            ? [
                {
                  method: "POST",
                  path: "/api/registry/NAME/check",
                  json: `{ printf '{"ast_payload":'; cat FILE; printf '}'; }`,
                } as const,
                {
                  method: "POST",
                  path: "/api/specs",
                  json: `{ printf '{"name":"NAME","visibility":"private","websocket_url":"URL","ast_payload":'; cat FILE; printf '}'; }`,
                } as const,
                { method: "PUT", path: "/api/specs/ID", body: { websocket_url: "URL" } } as const,
                {
                  method: "POST",
                  path: "/api/automation/runs",
                  json: `{ printf '{"workflow":"publish","spec_id":ID,"ast_payload":'; cat FILE; printf '}'; }`,
                } as const,
              ]
            : []),
        ]}
      />
    </>
  )
}
