import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { SvcError, type Outcome, type Step } from "../src/index.ts"
import { conclude, giveUp, type Knowledge, learn, nothingKnown } from "../src/submit/judge.ts"
import { askOnce, lookOnce, sendOnce, viewOnce } from "../src/submit/settle-loop.ts"
import { readSigned } from "../src/relay/wire.ts"
import { scriptedRelay, type Said } from "./scripted-relay.ts"
import { createVirtualClock } from "./virtual-clock.ts"

type Commitment = Knowledge["commitment"]
type Asked =
  | { readonly route: "send"; readonly request?: undefined }
  | { readonly route: "signature-status"; readonly request: { readonly searchTransactionHistory: boolean } }
  | { readonly route: "latest-blockhash"; readonly request: { readonly commitment: "finalized" } }
  | { readonly route: "fee"; readonly request: { readonly commitment: Commitment } }
/** What the relay was asked, and what it said; null: the connection was lost. */
type Heard = Asked & { readonly answer: Exclude<Said, string> | null; readonly times?: number }

type Vectors = {
  readonly wire: readonly Readonly<
    Record<"name" | "transaction", string> & Partial<Record<"signature" | "code", string>>
  >[]
  readonly transaction: Readonly<Record<"transaction" | "signature" | "lastValidBlockHeight", string>>
  readonly outcomes: readonly {
    readonly name: string
    readonly commitment?: Commitment
    readonly settle?: true
    readonly gaveUp?: true
    readonly heard: readonly Heard[]
    readonly conclude: object | null
  }[]
}

const path = join(import.meta.dirname, "../../../apps/docs-server/content/client/test-vectors.json")
const { wire, transaction, outcomes }: Vectors = JSON.parse(readFileSync(path, "utf8"))

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

const told = (outcome: Outcome | undefined): object | null => {
  if (outcome === undefined) return null
  const { state } = outcome
  if (state === "not-submitted") return { state, code: outcome.error.code }
  if (state !== "landed") return { state }
  const { slot, commitment, err } = outcome
  return { state, slot: String(slot), commitment, err }
}

/** What the library learns from one answer of the relay, asked as `submit` asks. */
const stepOf = async ({ route, request, answer }: Heard, known: Knowledge): Promise<Step> => {
  const { clock, run } = createVirtualClock()
  const { relay, asked } = scriptedRelay(clock, () => answer ?? "lost")
  const ask: Readonly<Record<Heard["route"], () => Promise<Step>>> = {
    send: () => sendOnce(relay, { transaction: transaction.transaction }),
    "signature-status": () => lookOnce(relay, transaction.signature, Object(request).searchTransactionHistory, {}),
    fee: () => askOnce(relay, known, {}),
    "latest-blockhash": () => viewOnce(relay, {}),
  }
  const step = await run(ask[route]())
  expect(asked).toMatchObject([{ route, ...(request !== undefined && { body: request }) }])
  return step
}

describe("what a client must conclude", () => {
  test.each(outcomes)("$name", async ({ commitment = "confirmed", settle, gaveUp, heard, conclude: wanted }) => {
    let known = nothingKnown({
      signature: transaction.signature,
      lastValidBlockHeight: BigInt(transaction.lastValidBlockHeight),
      commitment,
      message: readSigned(transaction.transaction).message,
      atLarge: settle === true ? 1 : 0,
    })
    const all = heard.flatMap((one) => Array.from({ length: one.times ?? 1 }, () => one))
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
