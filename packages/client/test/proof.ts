import { generateKeyPairSigner, lamports, type Address } from "@solana/kit"
import { createRandom, liesAbout, methodOf, startFaultProxy, type Fault } from "@svc/testing"
import { signTransaction, transfer } from "@svc/testing/solana"
import { createRelay, createSession, settle, submit, type Clock, type Outcome } from "../src/index.ts"
import { startServices } from "./services.ts"

const parallel = 60
/** The clock of the chain and of the library moves by so much at each tick … */
const stepMs = 100
const tickMs = 5
/** … while no more than so many requests wait for the relay: a slow machine takes longer, and times out no more often. */
const backlog = 12
const faults: readonly Fault[] = [
  "drop-request",
  "stall-request",
  "drop-answer",
  "stall-answer",
  "cut-answer",
  "late-request",
  "late-answer",
  "duplicate",
  "bad-gateway",
]

/** Time in which minutes pass in seconds, and which stands still while `isBusy`. */
const createTestTime = (random: () => number) => {
  const epoch = Date.now()
  let passed = 0
  let isBusy = (): boolean => false
  let sleepers: { readonly at: number; readonly wake: () => void }[] = []
  const ticking = setInterval(() => {
    if (isBusy()) return
    passed += stepMs
    const due = sleepers.filter(({ at }) => at <= passed)
    sleepers = sleepers.filter(({ at }) => at > passed)
    for (const { wake } of due) wake()
  }, tickMs)
  const clock: Clock = {
    now: () => passed,
    random,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) {
          resolve()
          return
        }
        const sleeper = { at: passed + ms, wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener("abort", () => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          resolve()
        })
      }),
  }
  return {
    clock,
    now: () => epoch + passed,
    standStillWhile: (busy: () => boolean) => (isBusy = busy),
    stop: () => clearInterval(ticking),
  }
}

/** What a submission was, what the library said of it, and what the chain says in the end. */
export type Case = {
  readonly signature: string
  readonly amount: bigint
  readonly outcome: Exclude<Outcome, { state: "undecided" }>
  readonly truth: { readonly slot: bigint; readonly failed: boolean } | null
  readonly received: bigint
}

/** Submits so many transactions over broken connections on both sides of a relay that dies, to a chain that leaves forks. */
export const prove = async (count: number) => {
  const { seed, next, pick } = createRandom()
  const time = createTestTime(next)
  const { clock } = time
  const rate = { client: 0.25, upstream: 0.04, lies: 0.05 }
  /** All faults in turn, so that few requests meet each of them. */
  const createTrouble = () => {
    let turn = 0
    return (share: number) => (next() < share ? faults[turn++ % faults.length] : undefined)
  }
  const [atUpstream, atClient] = [createTrouble(), createTrouble()]
  const late = () => clock.sleep(next() * 30_000)
  let atChain: Awaited<ReturnType<typeof startFaultProxy>> | undefined
  const services = await startServices({
    now: time.now,
    relayChainUrl: async (target) => {
      const limited = { status: 429, body: { jsonrpc: "2.0", id: 1, error: { code: -32429, message: "rate limited" } } }
      const turns = new Map<string, number>()
      const choose = ({ body }: { readonly body: string }) => {
        const method = methodOf(body)
        if (next() >= (method === "sendTransaction" ? rate.lies * 4 : rate.lies)) return atUpstream(rate.upstream)
        const lies = [...liesAbout(method), limited]
        const turn = turns.get(method) ?? 0
        turns.set(method, turn + 1)
        return lies[turn % lies.length]
      }
      atChain = await startFaultProxy({ target, late, choose })
      return atChain.url
    },
    env: {
      // The relay's own clock is the real one.
      SVC_TRANSACTION_SEND_TIMEOUT_MS: "1000",
      SVC_TRANSACTION_INSPECT_TIMEOUT_MS: "1000",
      SVC_TRANSACTION_STATUS_TIMEOUT_MS: "1000",
    },
  })
  const atRelay = await startFaultProxy({
    target: services.relayUrl,
    late,
    choose: ({ path }) => atClient(path.endsWith("/send") ? rate.client * 2 : rate.client / 2),
  })

  let down = false
  time.standStillWhile(() => down || atRelay.active() > backlog)

  const payer = await generateKeyPairSigner()
  await services.rpc.requestAirdrop(payer.address, lamports(1_000_000_000_000_000n)).send()
  // No fork may take it away.
  const owned = services.rpc.getBalance(payer.address, { commitment: "finalized" })
  while ((await owned.send()).value === 0n) await clock.sleep(1000)
  const hashes: { readonly blockhash: string; readonly lastValidBlockHeight: bigint }[] = []
  const freshHash = async () => {
    const { value } = await services.rpc.getLatestBlockhash({ commitment: "confirmed" }).send()
    hashes.push(value)
    return value
  }
  await freshHash()

  let rolledBack = 0
  const forks = setInterval(() => {
    if (next() < 0.3) rolledBack += services.rollback()
  }, 40)

  const newRelay = () => {
    // One token of five are refused, as expired.
    const platform = services.platform(() => (next() < 0.2 ? 4000 : 0))
    const websocketUrl = "wss://stack.example/transfers"
    const session = createSession({ platform, websocketUrl, scope: "transaction:inspect transaction:send", clock })
    return createRelay({ relayUrl: atRelay.url, session, clock })
  }

  const one = async (relay: ReturnType<typeof newRelay>, number: number) => {
    const recipient: Address = (await generateKeyPairSigner()).address
    // In turn, so that few submissions meet each: one in ten has more to give than there is, which a simulation mostly
    // tells; one has any blockhash so far, and one the first, which is over after a minute.
    const kind = number % 10
    const amount = kind === 0 ? 2_000_000_000_000_000n : BigInt(1_000_000 + Math.floor(next() * 1e9))
    const known = kind === 8 ? pick(hashes) : kind === 9 ? hashes[0] : undefined
    const hash = known ?? (await freshHash())
    const { base64, signature } = await signTransaction(payer, [transfer(payer.address, recipient, amount)], hash)
    // One in five callers is wrong about the height.
    const lastValidBlockHeight = next() < 0.2 ? 1n : hash.lastValidBlockHeight
    const common = { lastValidBlockHeight, clock }
    const options = { ...common, transaction: base64, skipPreflight: next() < (kind === 0 ? 0.1 : 0.4) }
    const leaving = new AbortController()
    if (next() < 0.1) void clock.sleep(next() * 30_000).then(() => leaving.abort())
    let outcome = await submit(relay, { ...options, signal: leaving.signal })
    // Given up, as after a crash: the signature is enough, with the bytes or without.
    if (outcome.state === "undecided") {
      outcome = await settle(relay, next() < 0.5 ? { ...common, signature } : { ...options, signature, resend: base64 })
    }
    if (outcome.state === "undecided") throw new Error("nobody gave up")
    return { signature, amount, recipient, outcome }
  }

  const done: Awaited<ReturnType<typeof one>>[] = []
  let begun = 0
  let restarts = 0
  const worker = async (): Promise<void> => {
    let relay = newRelay()
    for (let turn = 0; begun < count; turn++) {
      if (turn % 20 === 19) relay = newRelay()
      done.push(await one(relay, begun++))
    }
  }
  const killer = async (): Promise<void> => {
    while (done.length < count) {
      const goal = done.length + Math.ceil(count / Math.min(20, count / 400 + 1))
      while (done.length < goal && done.length < count) await clock.sleep(2000)
      await services.killRelay()
      // For some seconds nobody is there; then time waits until the next one is up.
      await clock.sleep(3000)
      down = true
      await services.startRelay()
      down = false
      restarts++
    }
  }
  const killing = killer()
  await Promise.all(Array.from({ length: Math.min(parallel, count) }, worker))
  clearInterval(forks)
  await killing
  // A copy that was held up may still arrive: until the last blockhash is over for good.
  await clock.sleep(400 * 200)

  const cases: Case[] = []
  for (const { signature, amount, recipient, outcome } of done) {
    const options = { searchTransactionHistory: true }
    const { value } = await services.rpc.getSignatureStatuses([signature], options).send()
    const [status] = value
    const received = (await services.rpc.getBalance(recipient, { commitment: "finalized" }).send()).value
    const truth = status ? { slot: status.slot, failed: status.err !== null } : null
    cases.push({ signature, amount, outcome, truth, received })
  }
  const ledger = { client: atRelay.ledger, upstream: atChain?.ledger ?? [] }
  time.stop()
  await atRelay.close()
  await services.stop()
  await atChain?.close()
  return { seed, cases, ledger, rolledBack, restarts }
}
