import type { Deployment } from "@svc/client"
import { useState } from "preact/hooks"
import { useApi } from "../api.ts"
import { Confirm } from "../confirm.tsx"
import { brief } from "../text.ts"

export type Operation = "stop" | "restart" | "rollback"

export const verbs = { stop: "Stop", restart: "Restart", rollback: "Roll back" } as const

/** What the deployment's status allows. */
export const operationsOf = ({ status }: Deployment): readonly Operation[] =>
  status === "stopped" ? ["restart"] : status === "updating" ? [] : ["stop", "rollback"]

const consequence = (operation: Operation, name: string): string =>
  ({
    stop: `Readers of ${name} get 404 stack-not-found and no new session tokens, until you restart it.`,
    restart: `Readers get ${name} again, in the version that it had.`,
    rollback: `An earlier version of ${name} is built and deployed. Readers of what only the present one has break.`,
  })[operation]

type Props = {
  readonly operation: Operation
  readonly deployment: Deployment
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Says what an operation on a deployment ends, and starts it. */
export const ConfirmDeployment = ({ operation, deployment, onDone, onClose }: Props) => {
  const { ask } = useApi()
  const [version, setVersion] = useState("")
  const name = brief(deployment.spec_name, 64)
  const earlier = Array.from({ length: Math.max(0, (deployment.current_version ?? 0) - 1) }, (_, index) => index + 1)
  const confirm = async (): Promise<void> => {
    const body = version === "" ? {} : { to_version: Number(version) }
    await ask({ method: "POST", path: `/api/deployments/${deployment.id}/${operation}`, body })
    onDone()
  }
  return (
    <Confirm title={`${verbs[operation]} ${name}?`} verb={verbs[operation]} onConfirm={confirm} onClose={onClose}>
      <p>{consequence(operation, name)}</p>
      {operation === "rollback" && (
        <label>
          To version{" "}
          <select value={version} onChange={({ currentTarget }) => setVersion(currentTarget.value)}>
            <option value="">the one deployed before</option>
            {earlier.toReversed().map((number) => (
              <option key={number} value={number}>
                {number}
              </option>
            ))}
          </select>
        </label>
      )}
    </Confirm>
  )
}
