// What a reader of a page has beforehand: an agent's key, a session token, a funded account and signed transactions.
import { type Address, createKeyPairSignerFromBytes, createSolanaRpc, lamports } from "@solana/kit"
import { postJson } from "@svc/testing"
import { messageOf } from "@svc/testing/solana"
import { generateKeyPairSync } from "node:crypto"
import { readFileSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Instance as Services } from "../../../../scripts/running/instance.ts"
import { createWallet } from "@svc/testing/wallet"
import type { Values } from "./compare-response.ts"

/** All services, and the key of a person, whom the operator has made. */
export type Instance = Services & { readonly userKey: string }

const post = async (url: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer> => {
  const response = await postJson(url, body, headers)
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`)
  return (await response.json()) as Answer
}

/** Only what is read here of the services' answers. */
type Answer = {
  readonly id: number
  readonly api_key: string
  readonly token: string
}

/** The 64 bytes of a new account, secret and public half, as Solana's tools keep them. */
export const newKeyPair = (): Uint8Array => {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" })
  return Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")])
}

export const newAddress = async (): Promise<Address> => (await createKeyPairSignerFromBytes(newKeyPair())).address

export const fund = ({ chainUrl }: Instance, account: Address) =>
  createSolanaRpc(chainUrl).requestAirdrop(account, lamports(1_000_000_000n)).send()

/** What an account holds, in lamports, as far as the chain has confirmed. */
export const balanceOf = async ({ chainUrl }: Instance, account: Address): Promise<bigint> =>
  (await createSolanaRpc(chainUrl).getBalance(account, { commitment: "confirmed" }).send()).value

const signedTransfer = async ({ chainUrl }: Instance, amount: bigint) => {
  const wallet = await createWallet(chainUrl)
  await wallet.fund(1_000_000_000n)
  return wallet.signTransfer(amount)
}

const stacks = join(import.meta.dirname, "../../../platform-api/stacks")
const astOf = (name: string): unknown => JSON.parse(readFileSync(join(stacks, `${name}.stack.json`), "utf8"))

/** What is read here of a person's records. */
type Records = {
  readonly id: number
  readonly status: string
  readonly deployment_id: number
  readonly current_build_id: number
}

const asPerson = async (instance: Instance, method: string, path: string, body?: object): Promise<string> => {
  const response = await fetch(`${instance.apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${instance.userKey}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  return response.text()
}
const recordOf = async (...request: Parameters<typeof asPerson>): Promise<Records> =>
  JSON.parse(await asPerson(...request)) as Records

const recordIn = async (instance: Instance, path: string, status: string): Promise<Records> => {
  for (;;) {
    const record = await recordOf(instance, "GET", path)
    if (record.status === status) return record
  }
}

/** Starts a publish run and waits until its events end, or for a status before that. */
const publish = async (instance: Instance, body: object, until?: string): Promise<Records> => {
  const { id } = await recordOf(instance, "POST", "/api/automation/runs", { workflow: "publish", ...body })
  const path = `/api/automation/runs/${id}`
  if (until !== undefined) return recordIn(instance, path, until)
  await asPerson(instance, "GET", `${path}/events`)
  return recordOf(instance, "GET", path)
}

let specsMade = 0
const makeSpec = async (instance: Instance): Promise<{ readonly id: number; readonly name: string }> => {
  const name = `example-${++specsMade}`
  const websocketUrl = `wss://streams.example/${name}`
  const body = { name, websocket_url: websocketUrl, ast_payload: astOf("name-service") }
  const { id } = await recordOf(instance, "POST", "/api/specs", body)
  return { id, name }
}
/** A spec of two versions that are deployed one after the other. */
const deploySpec = async (instance: Instance): Promise<Readonly<Record<string, string>>> => {
  const { id, name } = await makeSpec(instance)
  await publish(instance, { spec_id: id })
  const again = { spec_id: id, ast_payload: astOf("stake-accounts"), allow_breaking: true }
  const { id: run, deployment_id: deployment } = await publish(instance, again)
  const { current_build_id: build } = await recordOf(instance, "GET", `/api/deployments/${deployment}`)
  return {
    SPEC_ID: String(id),
    SPEC_NAME: name,
    RUN_ID: String(run),
    DEPLOYMENT_ID: String(deployment),
    BUILD_ID: String(build),
  }
}

let sharedDeployment: Promise<Readonly<Record<string, string>>> | undefined
/** One for all pages that only look at it. */
const deployedOnce = (instance: Instance) => (sharedDeployment ??= deploySpec(instance))

const makers: Readonly<
  Record<string, (instance: Instance, values: Values) => Promise<Readonly<Record<string, string>>>>
> = {
  API_KEY: async ({ apiUrl }) => ({ API_KEY: (await post(`${apiUrl}/api/agents/signup`, {})).api_key }),
  TOKEN: async (instance, values) => {
    const key = await give("API_KEY", instance, values)
    const request = {
      websocket_url: `${instance.streamUrl}/transfers`,
      scopes: ["read", "transaction:inspect", "transaction:send"],
    }
    const { token } = await post(`${instance.apiUrl}/ws/sessions`, request, { authorization: `Bearer ${key}` })
    return { TOKEN: token }
  },
  TRANSACTION: async (instance) => {
    const { wire: TRANSACTION, signature: SIGNATURE } = await signedTransfer(instance, 1_000_000n)
    return { TRANSACTION, MESSAGE: messageOf(TRANSACTION), SIGNATURE }
  },
  MESSAGE: (instance, values) => giveAll("TRANSACTION", instance, values),
  SIGNATURE: (instance, values) => giveAll("TRANSACTION", instance, values),
  // More than the account holds.
  FAILING_TRANSACTION: async (instance) => ({
    FAILING_TRANSACTION: (await signedTransfer(instance, 5_000_000_000n)).wire,
  }),
  ADDRESS: async () => ({ ADDRESS: await newAddress() }),
  USER_KEY: async ({ userKey }) => ({ USER_KEY: userKey }),
  AST: async () => ({ AST: JSON.stringify(astOf("stake-accounts")) }),
  AGENT_KEY_ID: async (instance, values) => {
    const headers = { authorization: `Bearer ${await give("API_KEY", instance, values)}` }
    return { AGENT_KEY_ID: String((await post(`${instance.apiUrl}/api/agents/me/keys`, {}, headers)).id) }
  },
  USER_KEY_ID: async (instance) => ({
    USER_KEY_ID: String((await recordOf(instance, "POST", "/api/auth/keys", { name: "backup" })).id),
  }),
  SPEC_ID: async (instance) => {
    const { id, name } = await makeSpec(instance)
    return { SPEC_ID: String(id), SPEC_NAME: name }
  },
  DEPLOYED_SPEC_ID: async (instance) => {
    const made = await deployedOnce(instance)
    return { ...made, DEPLOYED_SPEC_ID: made["SPEC_ID"] ?? "" }
  },
  RUN_ID: deployedOnce,
  DEPLOYMENT_ID: deployedOnce,
  BUILD_ID: deployedOnce,
  LIVE_DEPLOYMENT_ID: async (instance) => {
    const made = await deploySpec(instance)
    return { ...made, LIVE_DEPLOYMENT_ID: made["DEPLOYMENT_ID"] ?? "" }
  },
  STOPPED_DEPLOYMENT_ID: async (instance) => {
    const made = await deploySpec(instance)
    const path = `/api/deployments/${made["DEPLOYMENT_ID"]}`
    await asPerson(instance, "POST", `${path}/stop`, {})
    await recordIn(instance, path, "stopped")
    return { ...made, STOPPED_DEPLOYMENT_ID: made["DEPLOYMENT_ID"] ?? "" }
  },
  WAITING_RUN_ID: async (instance) => {
    const { id } = await makeSpec(instance)
    const run = await publish(instance, { spec_id: id, approval: true }, "waiting")
    return { SPEC_ID: String(id), WAITING_RUN_ID: String(run.id) }
  },
  CANCELLED_RUN_ID: async (instance, values) => {
    const run = await give("WAITING_RUN_ID", instance, values)
    await asPerson(instance, "POST", `/api/automation/runs/${run}/cancel`)
    await recordIn(instance, `/api/automation/runs/${run}`, "cancelled")
    return { CANCELLED_RUN_ID: run }
  },
}

/** What has to be there before a page's first command though that does not name it: lists of what was made. */
export const neededBy: Readonly<Record<string, readonly string[]>> = {
  "reference/platform/list-user-key.md": ["USER_KEY_ID"],
  "reference/platform/list-specs.md": ["SPEC_ID"],
  "reference/platform/list-builds.md": ["LIVE_DEPLOYMENT_ID"],
  "reference/platform/list-deployments.md": ["LIVE_DEPLOYMENT_ID"],
  "reference/platform/list-runs.md": ["LIVE_DEPLOYMENT_ID"],
}

/** What `svc auth login` leaves in a home. */
export const keepPersonsKey = async ({ apiUrl, userKey }: Instance, home: string): Promise<void> => {
  await mkdir(join(home, "svc"), { mode: 0o700 })
  const kept = { [`${apiUrl}#person`]: { api_key: userKey } }
  await writeFile(join(home, "svc/credentials.json"), JSON.stringify(kept), { mode: 0o600 })
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
