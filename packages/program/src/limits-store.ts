import { type Connect, inspectStore } from "@svc/limits"
import { type Finding, fail, pass, warn } from "./doctor.ts"

const check = "limits-store"
const oldest = { Redis: 6.2, Valkey: 7.2 }

/** Whether the limits' store answers, is new enough, and refuses instead of forgetting when it is full. */
export const checkLimitsStore = async (url: string, connect: Connect): Promise<readonly Finding[]> => {
  const store = await inspectStore(url, connect)
  if ("reason" in store) {
    const text = `the store at SVC_LIMITS_URL can't be used (${store.reason})`
    return [fail(check, text, "Start it, or correct its address and password.")]
  }
  const { name, version, policy = "noeviction" } = store
  if (Number.parseFloat(version) < oldest[name])
    return [fail(check, `${name} ${version} is too old`, `Use ${name} ${oldest[name]} or newer.`)]
  if (policy === "noeviction") return [pass(check, `${name} ${version} answers`)]
  return [warn(check, `a full store forgets counts (${policy})`, "Set its maxmemory-policy to noeviction.")]
}
