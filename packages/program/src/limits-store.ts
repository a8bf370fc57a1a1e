import { type Connect, inspectStore } from "@svc/limits"
import { type Finding, fail, pass, warn } from "./doctor.ts"
import { stepAfter } from "./requests.ts"

const check = "limits-store"
const oldest = { Redis: 6.2, Valkey: 7.2 }

/** Whether the limits' store answers, is new enough, and refuses instead of forgetting when it is full. */
export const checkLimitsStore = async (url: string, connect: Connect): Promise<readonly Finding[]> => {
  const store = await inspectStore(url, connect)
  if ("reason" in store) {
    const text = `the store at SVC_LIMITS_URL can't be used (${store.reason})`
    const isDenied = /^(?:NOAUTH|WRONGPASS|NOPERM)/.test(store.reason)
    const next = isDenied
      ? "Correct the user and password in SVC_LIMITS_URL."
      : stepAfter(store.reason, "Start it, or correct its address.")
    return [fail(check, text, next)]
  }
  if (store.isReplica)
    return [fail(check, "the store is a read-only replica", "Set SVC_LIMITS_URL to the primary server.")]
  const { name, version, policy = "noeviction" } = store
  if (Number.parseFloat(version) < oldest[name])
    return [fail(check, `${name} ${version} is too old`, `Use ${name} ${oldest[name]} or newer.`)]
  if (policy === "noeviction") return [pass(check, `${name} ${version} answers`)]
  return [warn(check, `a full store forgets counts (${policy})`, "Set its maxmemory-policy to noeviction.")]
}
