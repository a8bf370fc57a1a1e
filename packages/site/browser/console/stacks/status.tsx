import { brief } from "../text.ts"

const good = new Set(["active", "succeeded", "completed"])
const bad = new Set(["failed", "cancelled", "waiting"])

/** A status, and why. */
export const Status = ({ status, why }: { readonly status: string; readonly why?: string | null }) => (
  <>
    <span class={`badge ${good.has(status) ? "good" : bad.has(status) ? "warn" : ""}`}>{brief(status, 40)}</span>{" "}
    {why != null && <span class="muted">{brief(why, 300)}</span>}
  </>
)
