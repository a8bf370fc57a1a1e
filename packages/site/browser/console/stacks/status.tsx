import type { Build, Deployment, Run } from "@svc/client"
import { brief } from "../text.ts"

const moving = { look: "", isOver: false } as const
const well = { look: "good", isOver: true } as const
const badly = { look: "warn", isOver: true } as const

const statuses: Readonly<Record<string, { readonly look: string; readonly isOver: boolean }>> = {
  pending: moving,
  uploading: moving,
  queued: moving,
  building: moving,
  pushing: moving,
  deploying: moving,
  running: moving,
  cancelling: moving,
  updating: moving,
  waiting: { look: "warn", isOver: false },
  completed: well,
  succeeded: well,
  active: well,
  stopped: { look: "", isOver: true },
  failed: badly,
  cancelled: badly,
} satisfies Record<(Build | Deployment | Run)["status"], object>

export const isOver = ({ status }: Pick<Build | Run, "status">): boolean => statuses[status]?.isOver === true

export const Status = ({ status, why }: { readonly status: string; readonly why?: string | null }) => (
  <>
    <span class={`badge ${statuses[status]?.look ?? ""}`}>{brief(status, 40)}</span>{" "}
    {why != null && <span class="muted">{brief(why, 300)}</span>}
  </>
)
