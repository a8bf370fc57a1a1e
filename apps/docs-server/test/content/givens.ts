// What a reader of a page has beforehand: an agent's key, a session token, a funded account and signed transactions.
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  blockhash,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getBase64Decoder,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit"
import { generateKeyPairSync } from "node:crypto"
import type { Instance } from "./instance.ts"
import type { Values } from "./promise.ts"

const post = async (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`)
  return (await response.json()) as Answer
}

/** Only what is read here of the services' answers. */
type Answer = {
  readonly api_key: string
  readonly token: string
  readonly result: { readonly value: { readonly blockhash: string } }
}

/** The 64 bytes of a new account, secret and public half, as Solana's tools keep them. */
export const newKeyPair = (): Uint8Array => {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" })
  return Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")])
}

export const newAddress = async (): Promise<Address> => (await createKeyPairSignerFromBytes(newKeyPair())).address

const rpc = (instance: Instance, method: string, ...params: unknown[]): Promise<Answer> =>
  post(instance.chainUrl, { jsonrpc: "2.0", id: 1, method, params })

export const fund = async (instance: Instance, account: Address): Promise<void> => {
  await rpc(instance, "requestAirdrop", account, 1_000_000_000)
}

/** What an account holds, in lamports, as far as the chain has confirmed. */
export const balanceOf = async (instance: Instance, account: Address): Promise<unknown> =>
  (await rpc(instance, "getBalance", account, { commitment: "confirmed" })).result.value

const signedTransfer = async (instance: Instance, lamports: bigint) => {
  const payer = await createKeyPairSignerFromBytes(newKeyPair())
  await fund(instance, payer.address)
  const { result } = await rpc(instance, "getLatestBlockhash", { commitment: "confirmed" })
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2)
  data.writeBigUInt64LE(lamports, 4)
  const transfer = {
    programAddress: address("11111111111111111111111111111111"),
    accounts: [
      { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
      { address: await newAddress(), role: AccountRole.WRITABLE },
    ],
    data: new Uint8Array(data),
  }
  const lifetime = { blockhash: blockhash(result.value.blockhash), lastValidBlockHeight: 0n }
  return signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayerSigner(payer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstruction(transfer, message),
    ),
  )
}

const makers: Readonly<
  Record<string, (instance: Instance, values: Values) => Promise<Readonly<Record<string, string>>>>
> = {
  API_KEY: async ({ apiUrl }) => ({ API_KEY: (await post(`${apiUrl}/api/agents/signup`, {})).api_key }),
  TOKEN: async (instance, values) => {
    const key = await give("API_KEY", instance, values)
    const request = {
      websocket_url: "ws://127.0.0.1:4002/transfers",
      scopes: ["read", "transaction:inspect", "transaction:send"],
    }
    const { token } = await post(`${instance.apiUrl}/ws/sessions`, request, { authorization: `Bearer ${key}` })
    return { TOKEN: token }
  },
  TRANSACTION: async (instance) => {
    const transaction = await signedTransfer(instance, 1_000_000n)
    return {
      TRANSACTION: getBase64EncodedWireTransaction(transaction),
      MESSAGE: getBase64Decoder().decode(transaction.messageBytes),
      SIGNATURE: getSignatureFromTransaction(transaction),
    }
  },
  MESSAGE: (instance, values) => giveAll("TRANSACTION", instance, values),
  SIGNATURE: (instance, values) => giveAll("TRANSACTION", instance, values),
  // More than the account holds.
  FAILING_TRANSACTION: async (instance) => ({
    FAILING_TRANSACTION: getBase64EncodedWireTransaction(await signedTransfer(instance, 5_000_000_000n)),
  }),
  ADDRESS: async () => ({ ADDRESS: await newAddress() }),
}

const giveAll = async (name: string, instance: Instance, values: Values): Promise<Readonly<Record<string, string>>> => {
  const made = (await makers[name]?.(instance, values)) ?? {}
  for (const [key, value] of Object.entries(made)) values.set(key, value)
  return made
}

/** The value of a variable that no earlier answer of the page has given. */
export const give = async (name: string, instance: Instance, values: Values): Promise<string> => {
  if (!values.has(name)) await giveAll(name, instance, values)
  const value = values.get(name)
  if (value === undefined) throw new Error(`neither the page nor the test knows $${name}`)
  return value
}
