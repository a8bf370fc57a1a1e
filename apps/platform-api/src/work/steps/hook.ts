import { clientSpan, type Fail } from "@svc/telemetry"
import { Webhook } from "standardwebhooks"
import type { HookBody } from "./hook-call.ts"

/** Calls the operator's stream servers by the Standard Webhooks specification. */
export type HookCall = {
  /** The same id for every retry of a build or an operation. */
  readonly id: string
} & Omit<HookBody, "timestamp">

/** Returns whether the response was a 2xx. */
export type Hook = (call: HookCall, at: Date) => Promise<boolean>

const callMs = 10_000
export const triedForMs = 600_000

/** How long to wait after a failed call: 1 s, doubling up to 60 s; undefined after 10 minutes of tries. */
export const nextCallMs = (attempts: number, ageMs: number): number | undefined =>
  ageMs >= triedForMs ? undefined : Math.min(1000 * 2 ** Math.min(attempts, 6), 60_000)

/** @param secrets each one signs, because receivers may know only the old or the new one during a change */
export const createHook = (url: string, secrets: readonly string[]): Hook => {
  const webhooks = secrets.map((secret) => new Webhook(secret))
  return async ({ id, type, data }, at) => {
    const body = JSON.stringify({ type, timestamp: at.toISOString(), data } satisfies HookBody)
    const call = async (fail: Fail): Promise<boolean> => {
      const answer = await fetch(url, {
        method: "POST",
        redirect: "manual",
        signal: AbortSignal.timeout(callMs),
        headers: {
          "content-type": "application/json",
          "webhook-id": id,
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": webhooks.map((webhook) => webhook.sign(id, at, body)).join(" "),
        },
        body,
      })
      await answer.body?.cancel()
      if (!answer.ok) fail(String(answer.status), { "http.response.status_code": answer.status })
      return answer.ok
    }
    try {
      return await clientSpan("POST deploy hook", { "svc.hook.type": type }, call)
    } catch {
      return false
    }
  }
}
