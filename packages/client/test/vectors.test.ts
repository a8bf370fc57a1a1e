import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { SvcError, type Outcome, type Step } from "../src/index.ts"
import { conclude, giveUp, type Knowledge, learn, nothingKnown } from "../src/submit/judge.ts"
import { askOnce, lookOnce, sendOnce, viewOnce } from "../src/submit/settle-loop.ts"
import { readSigned } from "../src/relay/wire.ts"
import { scriptedRelay, type Said } from "./scripted-relay.ts"
import { createVirtualClock } from "./virtual-clock.ts"

const answer = z
  .strictObject({ status: z.int(), headers: z.record(z.string(), z.string()).optional(), body: z.unknown() })
  .nullable()

const conclusion = z.discriminatedUnion("state", [
  z.strictObject({ state: z.literal("landed"), slot: z.string(), commitment: z.string(), err: z.unknown() }),
  z.strictObject({ state: z.literal("not-submitted"), code: z.string() }),
  z.strictObject({ state: z.literal("expired") }),
  z.strictObject({ state: z.literal("undecided") }),
])

const file = z.strictObject({
  version: z.literal(1),
  about: z.string(),
  wire: z.array(
    z.strictObject({
      name: z.string(),
      transaction: z.string(),
      signature: z.string().optional(),
      code: z.string().optional(),
    }),
  ),
  transaction: z.strictObject({ transaction: z.string(), signature: z.string(), lastValidBlockHeight: z.string() }),
  outcomes: z.array(
    z.strictObject({
      name: z.string(),
      commitment: z.enum(["processed", "confirmed", "finalized"]).default("confirmed"),
      settle: z.literal(true).optional(),
      gaveUp: z.literal(true).optional(),
      heard: z.array(
        z.discriminatedUnion("route", [
          z.strictObject({ route: z.literal("send"), answer }),
          z.strictObject({
            route: z.literal("signature-status"),
            request: z.strictObject({ searchTransactionHistory: z.boolean() }),
            answer,
            times: z.int().optional(),
          }),
          z.strictObject({
            route: z.literal("latest-blockhash"),
            request: z.strictObject({ commitment: z.literal("finalized") }),
            answer,
          }),
          z.strictObject({
            route: z.literal("fee"),
            request: z.strictObject({ commitment: z.enum(["processed", "confirmed", "finalized"]) }),
            answer,
          }),
        ]),
      ),
      conclude: conclusion.nullable(),
    }),
  ),
})

const path = join(import.meta.dirname, "../../../apps/docs-server/content/client/test-vectors.json")
const { wire, transaction, outcomes } = file.parse(JSON.parse(readFileSync(path, "utf8")))

describe("the bytes of a transaction", () => {
  test.each(wire)("$name", (vector) => {
    const read = (): string => readSigned(vector.transaction).signature
    if (vector.signature !== undefined) {
      expect(read()).toBe(vector.signature)
      return
    }
    expect(read).toThrow(expect.objectContaining({ code: vector.code, submissionState: "not_submitted" }))
  })
})

const told = (outcome: Outcome | undefined): unknown => {
  switch (outcome?.state) {
    case undefined:
      return null
    case "landed": {
      const { state, slot, commitment, err } = outcome
      return { state, slot: String(slot), commitment, err }
    }
    case "not-submitted":
      return { state: outcome.state, code: outcome.error.code }
    case "expired":
    case "undecided":
      break
  }
  return { state: outcome.state }
}

type Heard = (typeof outcomes)[number]["heard"][number]

/** What the library learns from one answer of the relay, asked as `submit` asks. */
const stepOf = async (heard: Heard, known: Knowledge): Promise<Step> => {
  const { clock, run } = createVirtualClock()
  const said: Said =
    heard.answer === null
      ? "lost"
      : {
          status: heard.answer.status,
          body: heard.answer.body,
          ...(heard.answer.headers === undefined ? {} : { headers: heard.answer.headers }),
        }
  const { relay, asked } = scriptedRelay(clock, () => said)
  const ask = (): Promise<Step> => {
    switch (heard.route) {
      case "send":
        return sendOnce(relay, { transaction: transaction.transaction })
      case "signature-status":
        return lookOnce(relay, transaction.signature, heard.request.searchTransactionHistory, {})
      case "fee":
        return askOnce(relay, known, {})
      case "latest-blockhash":
        break
    }
    return viewOnce(relay, {})
  }
  const step = await run(ask())
  expect(asked).toMatchObject([
    heard.route === "send" ? { route: "send" } : { route: heard.route, body: heard.request },
  ])
  return step
}

describe("what a client must conclude", () => {
  test.each(outcomes)("$name", async ({ commitment, settle, gaveUp, heard, conclude: wanted }) => {
    let known = nothingKnown({
      signature: transaction.signature,
      lastValidBlockHeight: BigInt(transaction.lastValidBlockHeight),
      commitment,
      message: readSigned(transaction.transaction).message,
      atLarge: settle === true ? 1 : 0,
    })
    const all = heard.flatMap((one) => ("times" in one ? Array.from({ length: one.times ?? 1 }, () => one) : [one]))
    for (const [index, one] of all.entries()) {
      if (one.route === "send") known = learn(known, { step: "sending" })
      const step = await stepOf(one, known)
      if ("error" in step) expect(step.error).toBeInstanceOf(SvcError)
      known = learn(known, step)
      const last = index === all.length - 1 && gaveUp === undefined
      expect(told(conclude(known))).toEqual(last ? wanted : null)
    }
    if (gaveUp === true) expect(told(giveUp(known))).toEqual(wanted)
  })
})
