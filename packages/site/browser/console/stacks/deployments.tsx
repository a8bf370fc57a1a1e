import type { Deployment } from "@svc/client"
import { useState } from "preact/hooks"
import { useApi } from "../api.ts"
import { ListTable } from "../list-table.tsx"
import { brief, when } from "../text.ts"
import { useList } from "../use-read.ts"
import { ConfirmDeployment, type Operation, operationsOf, verbs } from "./confirm-deployment.tsx"
import { Status } from "./status.tsx"

const lookMs = 5000

type Pending = { readonly operation: Operation; readonly deployment: Deployment }

/** Deployments, and what their owner can do to them. @param specId those of one spec; undefined: all */
export const Deployments = ({ specId }: { readonly specId: number | undefined }) => {
  const { isPerson } = useApi()
  const list = useList<Deployment>("/api/deployments?limit=100", lookMs)
  const [pending, setPending] = useState<Pending>()
  const deployments = (list.items ?? []).filter((one) => specId === undefined || one.spec_id === specId)
  const rows = deployments.map((deployment) => [
    <a href={`#/specs/${deployment.spec_id}`}>{brief(deployment.spec_name, 64)}</a>,
    <Status status={deployment.status} why={deployment.status_message} />,
    deployment.current_version === null ? "none" : String(deployment.current_version),
    brief(deployment.websocket_url, 200),
    when(deployment.last_deployed_at),
    <div class="actions">
      {isPerson &&
        operationsOf(deployment).map((operation) => (
          <button
            // One button, which keeps the focus when it becomes the other.
            key={operation === "restart" ? "stop" : operation}
            type="button"
            aria-label={`${verbs[operation]} ${deployment.spec_name}`}
            onClick={() => setPending({ operation, deployment })}
          >
            {verbs[operation]}
          </button>
        ))}
    </div>,
  ])
  return (
    <>
      <ListTable
        list={list}
        label="Deployments"
        heads={["Stack", "Status", "Version", "Stream", "Deployed", "Actions"]}
        rows={rows}
        ids={deployments.map(({ id }) => String(id))}
        empty="None yet."
      />
      {pending !== undefined && (
        <ConfirmDeployment {...pending} onDone={list.again} onClose={() => setPending(undefined)} />
      )}
    </>
  )
}
