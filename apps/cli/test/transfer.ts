import { address, createSolanaRpc, generateKeyPairSigner, lamports, type Signature } from "@solana/kit"
import { signTransaction, transfer as transferOf } from "@svc/testing/solana"

/** A wallet on a chain: makes signed transfers of 1,000,000 lamports, or of what it is told. */
export const createWallet = async (chainUrl: string) => {
  const rpc = createSolanaRpc(chainUrl)
  const payer = await generateKeyPairSigner()
  await rpc.requestAirdrop(payer.address, lamports(5_000_000_000n)).send()
  const transfer = async (amount = 1_000_000n, blockhash?: string, recipient?: string) => {
    const { value: latest } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send()
    const to = recipient ?? (await generateKeyPairSigner()).address
    const instruction = transferOf(payer.address, to, amount)
    return signTransaction(payer, [instruction], { blockhash: blockhash ?? latest.blockhash })
  }
  const newAddress = async (): Promise<string> => (await generateKeyPairSigner()).address
  const balanceOf = async (of: string): Promise<bigint> => (await rpc.getBalance(address(of)).send()).value
  const hasLanded = async (signature: string): Promise<boolean> => {
    const { value } = await rpc.getSignatureStatuses([signature as Signature]).send()
    return value[0] !== null
  }
  return { transfer, newAddress, balanceOf, hasLanded }
}
