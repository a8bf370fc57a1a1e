import { address, createSolanaRpc, generateKeyPairSigner, lamports, type Signature } from "@solana/kit"
import { signTransaction, transfer } from "./solana.ts"

/** What the relay's latest-blockhash tells. */
type Latest = { readonly blockhash: string }
type Transfer = { readonly version?: 0 | 1; readonly to?: string }

/** An account on a chain, whose key never leaves this process, and a recipient. */
export const createWallet = async (chainUrl: string) => {
  const rpc = createSolanaRpc(chainUrl)
  const payer = await generateKeyPairSigner()
  const newAddress = async (): Promise<string> => (await generateKeyPairSigner()).address
  const recipient = await newAddress()
  const balanceOf = async (account: string): Promise<bigint> =>
    (await rpc.getBalance(address(account), { commitment: "confirmed" }).send()).value

  return {
    address: payer.address,
    recipient,
    newAddress,
    balanceOf,
    balance: () => balanceOf(payer.address),
    recipientBalance: () => balanceOf(recipient),
    fund: (amount: bigint) => rpc.requestAirdrop(payer.address, lamports(amount)).send(),
    hasLanded: async (signature: string): Promise<boolean> =>
      (await rpc.getSignatureStatuses([signature as Signature]).send()).value[0] !== null,
    /** A signed transfer, as base64, and the signature it will be known by; for now, unless told for when. */
    signTransfer: async (amount: bigint, latest?: Latest, { version = 0, to = recipient }: Transfer = {}) => {
      const { blockhash } = latest ?? (await rpc.getLatestBlockhash({ commitment: "confirmed" }).send()).value
      const instruction = transfer(payer.address, to, amount)
      const { base64: wire, signature } = await signTransaction(payer, [instruction], { blockhash, version })
      return { wire, signature }
    },
  }
}
