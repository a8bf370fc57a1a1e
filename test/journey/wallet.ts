import { createSolanaRpc, generateKeyPairSigner, lamports } from "@solana/kit"
import { signTransaction, transfer } from "@svc/testing/solana"

/** What the relay's latest-blockhash tells. */
export type Latest = { readonly blockhash: string; readonly lastValidBlockHeight: string | bigint }

/** An account whose key never leaves this process, and a recipient. */
export const createWallet = async (chainUrl: string) => {
  const rpc = createSolanaRpc(chainUrl)
  const payer = await generateKeyPairSigner()
  const recipient = (await generateKeyPairSigner()).address
  const balanceOf = async (account: typeof recipient) =>
    (await rpc.getBalance(account, { commitment: "confirmed" }).send()).value

  return {
    address: payer.address,
    recipient,
    balance: () => balanceOf(payer.address),
    recipientBalance: () => balanceOf(recipient),
    fund: (amount: bigint) => rpc.requestAirdrop(payer.address, lamports(amount)).send(),
    /** A signed transfer to the recipient, as base64, and the signature it will be known by; for now, unless told for when. */
    signTransfer: async (amount: bigint, latest?: Latest, version: 0 | 1 = 0) => {
      const { blockhash } = latest ?? (await rpc.getLatestBlockhash().send()).value
      const instruction = transfer(payer.address, recipient, amount)
      const { base64: wire, signature } = await signTransaction(payer, [instruction], { blockhash, version })
      return { wire, signature }
    },
  }
}
