// A process that makes payments, and may be told to kill itself at one of its steps: before or after a call of the disk or the network.
import { createHash } from "node:crypto"
import * as nodeFiles from "node:fs/promises"
import { setTimeout as pause } from "node:timers/promises"
import { base58 } from "@svc/common/base58"
import { createFileStore } from "../src/journal/file-store.ts"
import { type Clock, createJournal, createRelay, SvcError } from "../src/index.ts"
import { createPayer } from "./payments.ts"

export type Order = {
  readonly relayUrl: string
  readonly token: string
  readonly folder: string
  readonly seed: readonly number[]
  readonly ids: readonly string[]
  /** How much faster than real time the chain is. */
  readonly speed: number
  /** The number of the step at which it kills itself; null: never. */
  readonly dieAt: number | null
}

/** Who is paid under an id. */
export const recipientOf = (id: string): string => base58(createHash("sha256").update(id).digest())
export const amount = 1_000_000n

const parallel = 10
const rerun = new Set(["upstream_rpc_error", "simulation-failed", "blockhash-not-found"])

const run = async ({ relayUrl, token, folder, seed, ids, speed, dieAt }: Order): Promise<void> => {
  let steps = 0
  const step = (): void => {
    if (++steps === dieAt) process.kill(process.pid, "SIGKILL")
  }
  const around =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      step()
      const result = await call(...args)
      step()
      return result
    }
  const open = around(async (...args: Parameters<typeof nodeFiles.open>) => {
    const handle = await nodeFiles.open(...args)
    const [sync, writeFile] = [around(handle.sync.bind(handle)), around(handle.writeFile.bind(handle))]
    return Object.assign(handle, { sync, writeFile })
  })
  const { access, link, mkdir, readdir, readFile, truncate, unlink } = nodeFiles
  const wrapped = { access, link, mkdir, readdir, readFile, truncate, unlink } as const
  const files = Object.fromEntries(
    Object.entries(wrapped).map(([name, call]) => [name, around(call as () => Promise<unknown>)]),
  )
  const store = createFileStore(folder, { ...files, open } as unknown as typeof nodeFiles)

  const clock: Clock = {
    now: () => performance.now() * speed,
    random: Math.random,
    sleep: (ms, signal) => pause(ms / speed, undefined, signal && { signal }).catch(() => {}),
  }
  const relay = createRelay({ relayUrl, session: { token: async () => token }, clock, fetch: around(fetch) })
  const payer = createPayer(Uint8Array.from(seed))
  const journal = createJournal({ relay, store, clock })

  const pay = async (id: string): Promise<void> => {
    const build = ({ blockhash }: { readonly blockhash: string }): Uint8Array =>
      payer.transfer({ recipient: recipientOf(id), lamports: amount, blockhash })
    const submitted = async (): Promise<object> => {
      try {
        const { state, signature } = await journal.submitOnce(id, build)
        return { id, state, signature }
      } catch (error) {
        // Nothing is on its way, or a refusal was reported: a blockhash may expire before it is sent. A caller tries again.
        if (error instanceof SvcError && (error.retryable || rerun.has(error.code))) return submitted()
        return { id, state: error instanceof SvcError ? error.code : String(error) }
      }
    }
    const said = await submitted()
    console.log(JSON.stringify(said))
  }
  const queue = [...ids]
  const work = async (): Promise<void> => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) await pay(id)
  }
  await Promise.all(Array.from({ length: parallel }, work))
  console.log(JSON.stringify({ steps }))
}

const [, file, order] = process.argv
if (file === import.meta.filename && order !== undefined) await run(JSON.parse(order) as Order)
