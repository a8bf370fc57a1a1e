// svc mcp is killed, or loses its client, while it pays through a provider that lies: each payment is made once all the same.
import { createRandom, full, liesAbout, methodOf, startFaultProxy } from "@svc/testing"
import { expect, test } from "vitest"
import { startMcp } from "./mcp-client.ts"
import { startRelaySetup } from "./relay-setup.ts"

const runs = full ? 200 : 2
const amount = 1_000_000n
const { next, pick } = createRandom()

// A lie about the simulation would end a payment before it begins.
const setup = await startRelaySetup(({ body }) =>
  next() < 0.1 && methodOf(body) !== "simulateTransaction" ? pick(liesAbout(methodOf(body))) : undefined,
)

test("submit_payment pays once, even if killed at any request while a second svc mcp runs", async () => {
  // Counts the requests of the run, and kills at the one that was drawn: before it arrives, or after it did.
  let left = Infinity
  let kill = (): void => {}
  const proxy = await startFaultProxy({
    target: setup.env.SVC_RELAY_URL,
    choose: () => {
      left -= 1
      if (left !== 0) return undefined
      kill()
      return next() < 0.5 ? "drop-request" : "drop-answer"
    },
  })
  const env = { ...setup.env, SVC_RELAY_URL: proxy.url }
  let kills = 0
  for (let run = 0; run < runs; run++) {
    const id = `killed-${run}`
    const recipient = await setup.wallet.newAddress()
    const { base64, signature } = await setup.wallet.transfer(amount, undefined, recipient)
    const payment = { id, transaction: base64 }
    const first = await startMcp(await setup.tool.file(), env)
    const wasKilled = Promise.withResolvers<void>()
    kill = () => {
      kills += 1
      // The other way to go is the end of its stdin.
      if (next() < 0.5) process.kill(first.transport.pid ?? 0, "SIGKILL")
      else void first.close()
      wasKilled.resolve()
    }
    // A payment makes about eight requests: to simulate, to send, and to look it up.
    left = 1 + Math.floor(next() * 8)
    const killed = first.call("submit_payment", payment).catch(() => undefined)
    const second = await startMcp(await setup.tool.file(), env)
    // In some runs the second one is there while the first is at work.
    const beside = run % 2 === 0 ? second.call("submit_payment", payment).catch(() => undefined) : undefined
    await setup.inFastTime(Promise.race([killed, wasKilled.promise]), signature)
    left = Infinity
    await setup.inFastTime(Promise.resolve(beside), signature)
    let ended = await setup.inFastTime(second.call("submit_payment", payment), signature)
    while (ended["state"] === "undecided") {
      ended = await setup.inFastTime(second.call("submit_payment", payment), signature)
    }
    expect(ended).toMatchObject({ id, state: "landed", signature })
    expect(await second.call("settle_payments", { id })).toMatchObject({ payments: [{ id, state: "landed" }] })
    expect(await setup.wallet.balanceOf(recipient)).toBe(amount)
    await first.close()
    await second.close()
  }
  expect(kills).toBeGreaterThan(runs / 2)
  await proxy.close()
})
