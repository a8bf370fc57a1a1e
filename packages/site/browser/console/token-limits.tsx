import type { MintedSession, Stack } from "@svc/client"
import { SvcError } from "@svc/client/http"
import { isObject } from "@svc/common/json-object"
import { useState } from "preact/hooks"
import { useApi } from "./api.ts"
import { Failure } from "./failure.tsx"
import { useTry } from "./use-read.ts"

/** The `limits` claim of a token. The relay checks tokens; here one is only read. */
const limitsIn = (token: string): readonly string[] => {
  const text = atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"))
  const claims: unknown = JSON.parse(text)
  const limits = isObject(claims) && isObject(claims["limits"]) ? claims["limits"] : {}
  return Object.entries(limits).map(([name, value]) => `${name.replaceAll("_", " ")}: ${String(value)}`)
}

/** Reads what the operator has lowered for this account: only a token says it, so one is minted and thrown away. */
export const TokenLimits = () => {
  const { ask } = useApi()
  const [limits, setLimits] = useState<readonly string[]>()
  const { error, isBusy, attempt } = useTry()
  const look = (): Promise<void> =>
    attempt(async () => {
      setLimits(undefined)
      const [stack] = (await ask<readonly Stack[]>({ path: "/api/registry?limit=1" })).body
      if (stack === undefined) {
        const message = "There is no stack to mint a token for: nobody can tell this account's limits."
        throw new SvcError({ status: 0, code: "stack-not-found", message })
      }
      const body = { websocket_url: stack.websocket_url, scope: "read" }
      setLimits(limitsIn((await ask<MintedSession>({ method: "POST", path: "/ws/sessions", body })).body.token))
    })
  return (
    <>
      <p>
        <button type="button" aria-disabled={isBusy} onClick={look}>
          Read the relay's limits for this account
        </button>{" "}
        <span class="muted" role="status">
          {limits?.length === 0 && "The operator has lowered none: the relay's own limits hold."}
        </span>
      </p>
      <ul>
        {limits?.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
      <Failure error={error} />
    </>
  )
}
