import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type Blockhash,
  type Signature,
} from "@solana/kit"

/** A wallet on a chain: makes signed transfers of 1,000,000 lamports, or of what it is told. */
export const createWallet = async (chainUrl: string) => {
  const rpc = createSolanaRpc(chainUrl)
  const payer = await generateKeyPairSigner()
  await rpc.requestAirdrop(payer.address, lamports(5_000_000_000n)).send()
  const transfer = async (amount = 1_000_000n, blockhash?: string, recipient?: string) => {
    const { value: latest } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send()
    const data = new DataView(new ArrayBuffer(12))
    data.setUint32(0, 2, true)
    data.setBigUint64(4, amount, true)
    const instruction = {
      programAddress: address("11111111111111111111111111111111"),
      accounts: [
        { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
        { address: address(recipient ?? (await generateKeyPairSigner()).address), role: AccountRole.WRITABLE },
      ],
      data: new Uint8Array(data.buffer),
    }
    const signed = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (empty) => setTransactionMessageFeePayerSigner(payer, empty),
        (paid) =>
          setTransactionMessageLifetimeUsingBlockhash(
            { ...latest, blockhash: (blockhash ?? latest.blockhash) as Blockhash },
            paid,
          ),
        (timed) => appendTransactionMessageInstruction(instruction, timed),
      ),
    )
    return {
      base64: getBase64EncodedWireTransaction(signed) as string,
      signature: getSignatureFromTransaction(signed) as string,
    }
  }
  const newAddress = async (): Promise<string> => (await generateKeyPairSigner()).address
  const balanceOf = async (of: string): Promise<bigint> => (await rpc.getBalance(address(of)).send()).value
  const hasLanded = async (signature: string): Promise<boolean> => {
    const { value } = await rpc.getSignatureStatuses([signature as Signature]).send()
    return value[0] !== null
  }
  return { transfer, newAddress, balanceOf, hasLanded }
}
