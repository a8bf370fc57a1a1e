import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  blockhash,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  lamports,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit"

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
    /** A signed transfer to the recipient, as base64, and the signature it will be known by. */
    signTransfer: async (amount: bigint, latest: Latest, version: 0 | 1 = 0) => {
      const data = new Uint8Array(12)
      const view = new DataView(data.buffer)
      view.setUint32(0, 2, true) // the system program's transfer
      view.setBigUint64(4, amount, true)
      const transfer = {
        programAddress: address("11111111111111111111111111111111"),
        accounts: [
          { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
          { address: recipient, role: AccountRole.WRITABLE },
        ],
        data,
      }
      const lifetime = {
        blockhash: blockhash(latest.blockhash),
        lastValidBlockHeight: BigInt(latest.lastValidBlockHeight),
      }
      const v0 = pipe(
        createTransactionMessage({ version: 0 }),
        (message) => setTransactionMessageFeePayerSigner(payer, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
        (message) => appendTransactionMessageInstruction(transfer, message),
      )
      const v1 = pipe(
        createTransactionMessage({ version: 1 }),
        (message) => setTransactionMessageFeePayerSigner(payer, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
        (message) => appendTransactionMessageInstruction(transfer, message),
        // What version 1 does not ask for it does not get: without these it could do nothing.
        (message) =>
          setTransactionMessageConfig({ computeUnitLimit: 1000, loadedAccountsDataSizeLimit: 10_000 }, message),
      )
      const signed = await signTransactionMessageWithSigners(version === 1 ? v1 : v0)
      return { wire: getBase64EncodedWireTransaction(signed), signature: getSignatureFromTransaction(signed) }
    },
  }
}
