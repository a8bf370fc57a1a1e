import { type Connect, inspectStore } from "@svc/limits"
import { type Check, type Finding, fail, pass, warn } from "./doctor.ts"
import { lookupFailure, stepAfter } from "./requests.ts"

const check = "limits-store"
const credentials = "Correct the user and password in SVC_LIMITS_URL."
const rights =
  "Give the user of SVC_LIMITS_URL these rules of the ACL, with SVC_LIMITS_PREFIX in place of svc: ~svc:* +@read +@write +@scripting +@connection +info +time"
const noDatabase = "Take the database's number out of SVC_LIMITS_URL: the store doesn't have it."
/** The next step by how the text begins with which a store refuses. */
const refusals: Readonly<Record<string, string>> = {
  DENIED:
    "Give it a password (requirepass), and put that into SVC_LIMITS_URL: without one it serves its own machine alone.",
  NOAUTH: credentials,
  WRONGPASS: credentials,
  OOM: "Raise its maxmemory: 64 MB are enough for 50,000 callers a minute.",
  MISCONF: "Make room on its disk, or switch its snapshots off.",
  NOPERM: rights,
  "ERR The user executing the script": rights,
  "ERR ACL failure in script": rights,
  NOREPLICAS: "Start its replicas, or lower its min-replicas-to-write.",
  "ERR max number of clients": "Raise its maxclients, or end connections of other programs: each replica uses one.",
  "no reply": "Check whether it is overloaded or frozen.",
  "ERR DB index": noDatabase,
  "ERR SELECT": noDatabase,
  "ERR AUTH": "Give it a password (requirepass), or take the one in SVC_LIMITS_URL out.",
}
const refusalStep = (refusal: string): string | undefined =>
  Object.entries(refusals).find(([start]) => refusal.startsWith(start))?.[1]
const oldest = { Redis: 6.2, Valkey: 7.2 }

const checkStore = async (url: string, prefix: string, connect: Connect): Promise<readonly Finding[]> => {
  const unknown = await lookupFailure(new URL(url).hostname)
  const store = unknown === undefined ? await inspectStore(url, prefix, connect) : { reason: unknown }
  if ("reason" in store) {
    const text = `the store at SVC_LIMITS_URL can't be used (${store.reason})`
    const next = refusalStep(store.reason) ?? stepAfter(store.reason, "Start it, or correct its address.")
    return [fail(check, text, next)]
  }
  if (store.isReplica)
    return [fail(check, "the store is a read-only replica", "Set SVC_LIMITS_URL to the primary server.")]
  const { name, version, policy = "noeviction", refusal, others } = store
  if (Number.parseFloat(version) < oldest[name])
    return [fail(check, `${name} ${version} is too old`, `Use ${name} ${oldest[name]} or newer.`)]
  if (refusal !== undefined) {
    const next = refusalStep(refusal) ?? "Look into the store's own log."
    return [fail(check, `the store at SVC_LIMITS_URL takes no writes (${refusal})`, next)]
  }
  const found = [
    ...(policy === "noeviction"
      ? []
      : [warn(check, `a full store forgets counts (${policy})`, "Set its maxmemory-policy to noeviction.")]),
    ...others.map((other) =>
      warn(
        check,
        `replicas of ${other.service} count in this store with the prefix ${JSON.stringify(other.prefix)}, and this service with ${JSON.stringify(prefix)}`,
        "Set SVC_LIMITS_PREFIX to the same value everywhere. Only another installation has another one.",
      ),
    ),
  ]
  return found.length > 0 ? found : [pass(check, `${name} ${version} responds`)]
}

/**
 * Checks whether the limits' store answers, is new enough, takes writes, and refuses instead of forgetting when it is full. Without
 * a store there is no check. The client is loaded first: on a busy machine that takes longer than other checks' deadlines.
 */
export const limitsStoreChecks = async (
  { url, prefix }: { readonly url: string | undefined; readonly prefix: string },
  connect: Connect,
): Promise<Readonly<Record<string, Check>>> => {
  if (url === undefined) return {}
  const client = await connect()
  return { [check]: () => checkStore(url, prefix, async () => client) }
}
