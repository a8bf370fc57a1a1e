import { publicJwks } from "@svc/session-token"
import { postJson, redisProgram, startRedis } from "@svc/testing"
import { expect, onTestFinished, test } from "vitest"
import { startService } from "../../../test/start-service.ts"
import { result, startFakeRpc } from "./fake-rpc.ts"
import { startIssuer } from "./fixture.ts"

test.skipIf(redisProgram() === undefined && process.env["CI"] === undefined)(
  "600 concurrent calls on three relays with a limit of 60, in the default time: exactly 60 are admitted",
  async () => {
    const [redis, rpc, issuer] = await Promise.all([startRedis(), startFakeRpc(), startIssuer(() => Date.now())])
    onTestFinished(redis.stop)
    onTestFinished(rpc.close)
    rpc.script((r) => result(r, "1"))
    const settings = {
      SVC_TRANSACTIONS_ENABLED: "true",
      SVC_TRANSACTION_RPC_URL: rpc.url,
      SVC_TRANSACTION_STATUS_REQUESTS_PER_MINUTE: "60",
      SVC_SESSION_PUBLIC_KEY: JSON.stringify(publicJwks(issuer.keys)),
      SVC_SESSION_AUDIENCE: "transfers",
      SVC_LIMITS_URL: redis.url,
      SVC_LIMITS_REPLICAS: "3",
    }
    const relays = await Promise.all([1, 2, 3].map(() => startService("relay", settings)))
    const modes = relays.map(async ({ url }): Promise<unknown> => (await fetch(`${url}/health`)).json())
    expect(await Promise.all(modes)).toMatchObject(relays.map(() => ({ limits: "shared" })))
    const headers = { authorization: `Bearer ${await issuer.token({ sub: "agent:one" })}` }
    const post = async (index: number) => {
      const { url } = relays[index % 3] ?? expect.fail("no relay")
      return (await postJson(`${url}/transactions/v1/block-height`, {}, headers)).status
    }
    const statuses = await Promise.all(Array.from({ length: 600 }, (_, index) => post(index)))
    // A request counts even if no place is free.
    expect(statuses.filter((status) => status === 200 || status === 503)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(540)
  },
)
