import type { Build, Deployment, Diff, SpecVersion } from "@svc/client"
import { useState } from "preact/hooks"
import { Choice } from "../../fields.tsx"
import { type Asked, useApi } from "../api.ts"
import { Confirm } from "../confirm.tsx"
import { Failure } from "../failure.tsx"
import { brief, when } from "../text.ts"
import { useList, useRead } from "../use-read.ts"
import { ChangesList } from "./changes-list.tsx"
import { ListTable } from "../list-table.tsx"
import { isOver, Status } from "./status.tsx"

type Operation = "stop" | "restart" | "rollback"

const verbs = { stop: "Stop", restart: "Restart", rollback: "Roll back" } as const

const allowed: Readonly<Record<string, readonly Operation[]>> = {
  active: ["stop", "rollback"],
  updating: [],
  stopped: ["restart"],
  failed: ["stop", "rollback"],
} satisfies Record<Deployment["status"], readonly Operation[]>
const operationsOf = ({ status, current_version: current }: Deployment): readonly Operation[] =>
  (allowed[status] ?? []).filter((operation) => operation !== "rollback" || current !== 1)

const consequence = (operation: Operation, name: string): string =>
  ({
    stop: `Readers of ${name} get 404 stack-not-found and no new session tokens, until you restart it.`,
    restart: `Readers get ${name} again, in the version that it had.`,
    rollback: `An earlier version of ${name} is built and deployed. What that changes for readers:`,
  })[operation]

type ChoiceProps = {
  readonly deployment: Deployment
  readonly chosen: number | undefined
  readonly choose: (version: number) => void
}

/** The versions before the deployed one, by number, date and message, and what going back to one changes. */
const VersionChoice = ({ deployment: { spec_id: spec, current_version: current }, chosen, choose }: ChoiceProps) => {
  const versions = useList<SpecVersion>(`/api/specs/${spec}/versions?limit=100`)
  const path = chosen === undefined ? undefined : `/api/specs/${spec}/diff?from=${current}&to=${chosen}`
  const { body: diff, error } = useRead<Diff>(path)
  return (
    <>
      <Choice
        label="To version"
        chosen={chosen}
        from={(versions.items ?? [])
          .filter(({ version_number: number }) => number < (current ?? 0))
          .map(({ version_number: number, created_at: at, message }) => [
            number,
            `${number}, ${when(at)} ${brief(message ?? "", 60)}`,
          ])}
        onChoose={choose}
      />
      <Failure error={versions.error ?? error} />
      {diff !== undefined && <ChangesList {...diff} />}
    </>
  )
}

type Props = {
  readonly operation: Operation
  readonly deployment: Deployment
  readonly onDone: () => void
  readonly onClose: () => void
}

const ConfirmDeployment = ({ operation, deployment, onDone, onClose }: Props) => {
  const { ask } = useApi()
  const before = (deployment.current_version ?? 0) - 1
  const [version, setVersion] = useState(before > 0 ? before : undefined)
  const name = brief(deployment.spec_name, 64)
  const confirm = async (): Promise<void> => {
    const body = operation === "rollback" ? { to_version: version } : {}
    await ask({ method: "POST", path: `/api/deployments/${deployment.id}/${operation}`, body })
    onDone()
  }
  return (
    <Confirm
      title={`${verbs[operation]} ${name}?`}
      verb={verbs[operation]}
      isEnd={operation !== "restart"}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{consequence(operation, name)}</p>
      {operation === "rollback" && <VersionChoice deployment={deployment} chosen={version} choose={setVersion} />}
    </Confirm>
  )
}

const deploymentsPath = "/api/deployments?limit=100"
const buildsPath = "/api/builds?limit=100"
const lookMs = 5000
const buildLookMs = 2000

const whileBuilding = (builds: readonly Build[]): number => (builds.every(isOver) ? lookMs : buildLookMs)

type BuildProps = { readonly deployment: Deployment; readonly builds: readonly Build[] }

const LatestBuild = ({ deployment, builds }: BuildProps) => {
  const build = builds.find(({ spec_id: spec }) => spec === deployment.spec_id)
  return (
    <div role="status">
      {build !== undefined && build.id !== deployment.current_build_id && (
        <>
          Build {build.id} <Status status={build.status} why={build.status_message ?? `${build.progress ?? 0} %`} />
        </>
      )}
    </div>
  )
}

/** The requests of the table and its buttons. @param isPerson whether it has buttons */
export const deploymentRequests = (isPerson: boolean): readonly Asked[] => [
  { path: deploymentsPath },
  { path: buildsPath },
  ...(isPerson ? (Object.keys(verbs) as Operation[]) : []).map((operation) => ({
    method: "POST" as const,
    path: `/api/deployments/ID/${operation}`,
    body: operation === "rollback" ? { to_version: 1 } : {},
  })),
]

type Pending = { readonly operation: Operation; readonly deployment: Deployment }

/** Deployments, and what their owner can do to them. @param specId those of one spec; undefined: all */
export const Deployments = ({ specId }: { readonly specId: number | undefined }) => {
  const { isPerson } = useApi()
  const list = useList<Deployment>(deploymentsPath, lookMs)
  const builds = useRead<readonly Build[]>(buildsPath, whileBuilding)
  const [pending, setPending] = useState<Pending>()
  const deployments = (list.items ?? []).filter((one) => specId === undefined || one.spec_id === specId)
  const rows = deployments.map((deployment) => [
    <a href={`#/specs/${deployment.spec_id}`}>{brief(deployment.spec_name, 64)}</a>,
    <>
      <Status status={deployment.status} why={deployment.status_message} />
      <LatestBuild deployment={deployment} builds={builds.body ?? []} />
    </>,
    deployment.current_version === null ? "none" : String(deployment.current_version),
    <span class="muted">{brief(deployment.websocket_url, 200)}</span>,
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
        empty={list.readMore === undefined ? "None yet." : "None among the latest."}
      />
      {pending !== undefined && (
        <ConfirmDeployment
          {...pending}
          onDone={() => {
            builds.again()
            list.again()
          }}
          onClose={() => setPending(undefined)}
        />
      )}
    </>
  )
}
