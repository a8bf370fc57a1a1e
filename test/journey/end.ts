import { strict as assert } from "node:assert"
import { createRelay, submit } from "@svc/client"

import type { Agent } from "./arrive.ts"
import type { Traveller } from "./journey.ts"
import * as shape from "./shapes.ts"
import type { Sent } from "./transfer.ts"
import { createWallet } from "@svc/testing/wallet"

/** The agent sees a transfer of its own arrive, and the services leave no secret behind. */
export const end = async (
  { instance, svc, take, show }: Traveller,
  { firstKey, stackUrl }: Agent,
  { token, wire, signature }: Sent,
  secondKey: string,
): Promise<void> => {
  await take(
    {
      does: "The agent watches the stack, and pays once more",
      proves: "what was sent through the relay arrives as a live record, at whoever watches",
    },
    async () => {
      // What was published on the way is streamed as it is now.
      const listed = shape.listed.parse(await (await fetch(`${instance.apiUrl}/api/registry`)).json())
      const health: unknown = await (await fetch(`${instance.streamUrl.replace("ws:", "http:")}/health`)).json()
      const streamed = Object.entries(shape.streamed.parse(health).stacks).map(([name, { version }]) => ({
        name,
        version,
      }))
      const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1)
      assert.deepEqual(streamed.toSorted(byName), listed.toSorted(byName))
      const wallet = await createWallet(instance.chainUrl)
      await wallet.fund(1_000_000_000n)
      const watching = svc.start("svc watch transfers --json")
      await watching.waitFor(/"op":"snapshot"/)
      const scope = "transaction:inspect transaction:send"
      const minted = shape.session.parse(await svc.json(`svc session ${stackUrl} --scope '${scope}' --json`))
      const relay = createRelay({ relayUrl: instance.relayUrl, session: { token: async () => minted.token } })
      const latest = await relay.latestBlockhash()
      const own = await wallet.signTransfer(250_000_000n, latest)
      const { lastValidBlockHeight } = latest
      const outcome = await submit(relay, { transaction: own.wire, lastValidBlockHeight })
      assert.ok(outcome.state === "landed", outcome.state)
      const [line = ""] = await watching.waitFor(new RegExp(`^.*"upsert","key":"${own.signature}".*$`, "m"))
      const { record } = shape.live.parse(JSON.parse(line))
      assert.deepEqual(record.parties, { source: wallet.address, destination: wallet.recipient })
      show(`SolTransfer: ${record.amount.lamports} lamports from ${wallet.address}`)
      watching.kill("SIGINT")
      assert.equal(await watching.exited, 0)
    },
  )

  await take(
    {
      does: "The services are stopped, and all that they logged is read",
      proves: "no key, no token, no transaction and no whole signature was written anywhere",
    },
    async () => {
      // Stopping writes out the last lines.
      await instance.stop()
      const log = instance.log()
      for (const route of ["/api/agents/signup", "/ws/sessions", "/transactions/v1/send"])
        assert.ok(log.includes(route))
      const [, , tokenSignature = token] = token.split(".")
      for (const secret of [firstKey, secondKey, token, tokenSignature, wire, signature]) {
        assert.ok(!log.includes(secret), "a secret is in the log")
      }
      show(`${log.split("\n").length} lines, none with a secret`)
    },
  )
}
