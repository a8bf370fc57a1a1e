// Transfers between five fixed wallets, so that a new stream shows changes.
import { createHash } from "node:crypto"
import * as kit from "@solana/kit"
import type { Polling } from "./follow.ts"

const wallets = 5
const everyMs = 2_000
const sol = 1_000_000_000n
const commitment = "confirmed"
const systemProgram = kit.address("11111111111111111111111111111111")
const transferData = kit.getTupleEncoder([kit.getU32Encoder(), kit.getU64Encoder()])

const createWallet = (index: number) =>
  kit.createKeyPairSignerFromPrivateKeyBytes(createHash("sha256").update(`sample wallet ${index}`).digest())

/** Moves lamports every two seconds until the signal aborts, on a chain that gives airdrops. */
export const runTraffic = async (rpcUrl: string, { sleep, signal, onProblem }: Polling): Promise<void> => {
  const rpc = kit.createSolanaRpc(rpcUrl)

  const transfer = async (turn: number): Promise<void> => {
    const from = await createWallet(turn % wallets)
    const to = await createWallet((turn + 1 + (Math.floor(turn / wallets) % (wallets - 1))) % wallets)
    const { value: balance } = await rpc.getBalance(from.address, { commitment }).send()
    if (balance < 10n * sol) await rpc.requestAirdrop(from.address, kit.lamports(100n * sol), { commitment }).send()
    const { value: latest } = await rpc.getLatestBlockhash({ commitment }).send()
    // Different amounts, from 0.001 to 1 SOL.
    const amount = (BigInt((turn * 7919) % 1000) + 1n) * 1_000_000n
    const instruction = {
      programAddress: systemProgram,
      accounts: [
        { address: from.address, role: kit.AccountRole.WRITABLE_SIGNER },
        { address: to.address, role: kit.AccountRole.WRITABLE },
      ],
      data: transferData.encode([2, amount]),
    }
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (empty) => kit.setTransactionMessageFeePayerSigner(from, empty),
      (paid) => kit.setTransactionMessageLifetimeUsingBlockhash(latest, paid),
      (timed) => kit.appendTransactionMessageInstruction(instruction, timed),
    )
    const signed = await kit.partiallySignTransactionMessageWithSigners(message)
    const wire = kit.getBase64EncodedWireTransaction(signed)
    await rpc.sendTransaction(wire, { encoding: "base64", preflightCommitment: "processed" }).send()
  }

  for (let turn = 0; !signal.aborted; turn++) {
    await transfer(turn).catch((error: unknown) => onProblem(error instanceof Error ? error.message : String(error)))
    await sleep(everyMs)
  }
}
