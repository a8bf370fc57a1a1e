// @module-tag long
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { address, lamports } from "@solana/kit"
import { createRandom, type Fault, full, liesAbout, methodOf, startFaultProxy, startProcess } from "@svc/testing"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { folderOfFile } from "../../../test/folder-of-file.ts"
import { amount, type Order, recipientOf } from "./payment-process.ts"
import { createPayer } from "./payments.ts"
import { type Services, startServices } from "./services.ts"

const speed = 10
const faults: readonly Fault[] = [
  "drop-request",
  "drop-answer",
  "cut-answer",
  "late-request",
  "late-answer",
  "duplicate",
  "bad-gateway",
]
const seed = [...randomBytes(32)]
const start = Date.now()
const now = (): number => start + (Date.now() - start) * speed
const { next, pick } = createRandom()
const late = (): Promise<void> => pause((next() * 20_000) / speed)
const trouble = (share: number) => () => (next() < share ? pick(faults) : undefined)

const root = folderOfFile()
let services: Services
let relayUrl: string
let closeProxies = async (): Promise<void> => {}
beforeAll(async () => {
  let atChain: Awaited<ReturnType<typeof startFaultProxy>> | undefined
  services = await startServices({
    now,
    relayChainUrl: async (target) => {
      const choose = ({ body }: { readonly body: string }) =>
        next() < 0.05 ? pick(liesAbout(methodOf(body))) : trouble(0.03)()
      atChain = await startFaultProxy({ target, late, choose })
      return atChain.url
    },
  })
  const atRelay = await startFaultProxy({ target: services.relayUrl, late, choose: trouble(0.1) })
  relayUrl = atRelay.url
  closeProxies = async () => {
    await atRelay.close()
    await services.stop()
    await atChain?.close()
  }
  const payer = address(createPayer(Uint8Array.from(seed)).address)
  await services.rpc.requestAirdrop(payer, lamports(1_000_000_000_000n)).send()
})
afterAll(() => closeProxies())

type Said = { readonly id: string; readonly state: string; readonly signature?: string }

/** Runs one process; gives what it said of each payment, and whether it died. */
const runProcess = async (order: Pick<Order, "ids" | "folder" | "dieAt">) => {
  const whole: Order = { ...order, relayUrl, seed, speed, token: await services.tokenOf() }
  const child = startProcess(process.execPath, [join(import.meta.dirname, "payment-process.ts"), JSON.stringify(whole)])
  const isKilled = (await child.exited) === "SIGKILL"
  const lines = child.stdout().split("\n").slice(0, -1)
  const said = lines.map((line) => JSON.parse(line) as Said).filter(({ id }) => id !== undefined)
  return { said, isKilled, stderr: child.stderr() }
}

const newIds = (count: number): string[] =>
  Array.from({ length: count }, () => `payment-${randomBytes(8).toString("hex")}`)

/** How often an id's recipient was paid. */
const timesPaid = async (id: string): Promise<number> => {
  const { value } = await services.rpc.getBalance(address(recipientOf(id)), { commitment: "processed" }).send()
  return Number(value / amount)
}

/** Makes payments in processes that kill themselves, then by one that doesn't; gives the ids that weren't paid exactly once. */
const payWithKills = async (count: number, deaths: readonly number[]) => {
  const ids = newIds(count)
  const folder = join(root, randomBytes(8).toString("hex"))
  const order = { ids, folder }
  let kills = 0
  for (const dieAt of deaths) kills += Number((await runProcess({ ...order, dieAt })).isKilled)
  const { said, stderr } = await runProcess({ ...order, dieAt: null })
  // A copy that was held up may still arrive.
  await pause(30_000 / speed)
  const paid = await Promise.all(ids.map(timesPaid))
  const wrong = ids.filter((_, index) => paid[index] !== 1)
  return { kills, wrong, said, stderr, ended: said.filter(({ state }) => state === "landed").length }
}

const payments = 8
/** All but the first of these steps come after something was stored; a run that continues makes fewer. */
const anyDeath = fc.oneof(
  fc.integer({ min: 1, max: payments * 12 }),
  fc.integer({ min: 1, max: payments * 20 }),
  fc.integer({ min: 1, max: payments * 60 }),
)

test("a rerun finishes payments of processes killed at any disk or network step, and money moves once", async () => {
  let kills = 0
  const batches = fc.sample(fc.array(anyDeath, { minLength: 5, maxLength: 5 }), full ? 250 : 1)
  const work = async (): Promise<void> => {
    for (let deaths = batches.pop(); deaths !== undefined; deaths = batches.pop()) {
      const one = await payWithKills(payments, deaths)
      expect(one).toMatchObject({ wrong: [], stderr: "", ended: payments })
      kills += one.kills
    }
  }
  await Promise.all(Array.from({ length: full ? 8 : 1 }, work))
  expect(kills).toBeGreaterThan(full ? 1000 : 1)
})

test("processes that make the same payments at once in one folder pay each once, and return the same", async () => {
  const ids = newIds(full ? 200 : 5)
  const folder = join(root, "shared")
  const runs = await Promise.all(
    Array.from({ length: full ? 8 : 4 }, (_, index) =>
      runProcess({ ids: index % 2 === 0 ? ids : ids.toReversed(), folder, dieAt: null }),
    ),
  )
  expect(runs.map(({ stderr }) => stderr).join("")).toBe("")
  const told = new Set(runs.flatMap(({ said }) => said.map((one) => `${one.id} ${one.state} ${one.signature}`)))
  expect([...told].filter((one) => !one.includes(" landed "))).toEqual([])
  expect(told.size).toBe(ids.length)
  expect(await Promise.all(ids.map(timesPaid))).toEqual(ids.map(() => 1))
})
