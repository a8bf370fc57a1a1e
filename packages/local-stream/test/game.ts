// A stack with what large stacks on npm ask for, computed here or not, and a Solana RPC whose blocks the test writes.
import { AccountRole, type Address, generateKeyPairSigner, getBase58Decoder, type Instruction } from "@solana/kit"
import { startReceiver } from "@svc/testing"
import { call, signTransaction } from "@svc/testing/solana"
import { embedded, field, from, handler, lookup, path, set } from "./ast.ts"

const ref = (to: string) => ({ FieldRef: { path: to } })
const uiAmount = (of: string) => ({
  ResolverComputed: { resolver: "TokenMetadata", method: "ui_amount", args: [ref(of), { Literal: { value: 9 } }] },
})
const mapped = (of: string, body: object) => ({
  MethodCall: { expr: ref(of), method: "map", args: [{ Closure: { param: "r", body } }] },
})

export const gameAst = (game: Address, oracle: Address) => ({
  ast_version: "0.0.1",
  stack_name: "GameStream",
  program_ids: [game, oracle],
  idls: [
    {
      name: "game",
      program_id: game,
      accounts: [
        {
          name: "Round",
          discriminator: [109, 0, 0, 0, 0, 0, 0, 0],
          fields: [
            { name: "id", type: "u64" },
            { name: "deployed", type: { array: ["u64", 3] } },
            { name: "expires_at", type: "u64" },
            { name: "seed", type: { array: ["u8", 4] } },
            { name: "leader", type: { option: "publicKey" } },
          ],
        },
      ],
      instructions: [
        {
          name: "deploy",
          discriminator: [6],
          accounts: [{ name: "signer" }, { name: "round" }, { name: "oracleVar" }],
          args: [
            { name: "amount", type: "u64" },
            { name: "squares", type: "u32" },
          ],
        },
      ],
      types: [],
      discriminant_size: 1,
    },
    {
      name: "oracle",
      program_id: oracle,
      accounts: [{ name: "Var", discriminator: [1], fields: [{ name: "value", type: { array: ["u8", 4] } }] }],
      instructions: [],
      types: [],
    },
  ],
  entities: [
    {
      state_name: "Round",
      identity: { primary_keys: ["id.round_id"], lookup_indexes: [{ field_name: "id.address" }] },
      handlers: [
        handler("game::RoundState", embedded("id"), [
          set("id.round_id", "SetOnce", from("id")),
          set("id.address", "SetOnce", { FromContext: { field: "account_address" } }),
          set("state.deployed", "LastWrite", from("deployed")),
          set("state.expires_at", "LastWrite", from("expires_at")),
          set("state.seed", "LastWrite", { FromSource: { path: path("seed"), default: null, transform: "HexEncode" } }),
          set("state.leader", "LastWrite", from("leader")),
          set("state.__raw", "SetOnce", from("expires_at"), { stop: "game::DeployIxState", emit: false }),
        ]),
        handler("game::DeployIxState", lookup("accounts.round"), [
          set("metrics.deploys", "Count", from("data")),
          set("metrics.total", "Sum", from("data.amount")),
          set("metrics.largest", "Max", from("data.amount")),
          set("metrics.players", "UniqueCount", from("accounts.signer")),
        ]),
        handler("oracle::VarState", lookup("__account_address"), [set("oracle.value", "LastWrite", from("value"))]),
      ],
      sections: [
        { name: "id", fields: [field("round_id", "u64"), field("address", "Option < String >")] },
        {
          name: "state",
          fields: [
            field("deployed", "Option < Vec < u64 > >"),
            field("expires_at", "Option < u64 >"),
            field("seed", "Option < String >"),
            field("leader", "Option < String >"),
            field("__raw", "Option < u64 >", false),
            field("left", "Option < u64 >"),
            field("ui", "Option < f64 >"),
          ],
        },
        {
          name: "metrics",
          fields: ["deploys", "total", "largest", "players"].map((name) => field(name, "Option < u64 >")),
        },
        { name: "oracle", fields: [field("value", "Option < Vec < u8 > >"), field("url", "Option < String >")] },
        { name: "results", fields: [field("rng", "Option < u64 >"), field("square", "Option < u64 >")] },
        { name: "root", fields: [field("token", "Option < TokenMetadata >")] },
      ],
      resolver_hooks: [
        {
          account_type: "oracle::VarState",
          strategy: { PdaReverseLookup: { lookup_name: "l", queue_discriminators: [] } },
        },
      ],
      instruction_hooks: [
        {
          instruction_type: "game::DeployIxState",
          actions: [
            {
              RegisterPdaMapping: {
                pda_field: path("accounts.oracleVar"),
                seed_field: path("accounts.round"),
                lookup_name: "l",
              },
            },
          ],
          lookup_by: null,
        },
      ],
      resolver_specs: [
        { resolver: "token", input_value: "mint", strategy: "SetOnce", extracts: [{ target_path: "token" }] },
        { resolver: { url: { method: "get" } }, strategy: "SetOnce", extracts: [{ target_path: "oracle.url" }] },
      ],
      computed_field_specs: [
        {
          target_path: "state.left",
          expression: {
            Let: {
              name: "now",
              value: "ContextSlot",
              body: {
                If: {
                  condition: { Binary: { op: "Gt", left: ref("state.expires_at"), right: { Var: { name: "now" } } } },
                  then_branch: {
                    Binary: { op: "Sub", left: ref("state.expires_at"), right: { Var: { name: "now" } } },
                  },
                  else_branch: "None",
                },
              },
            },
          },
        },
        { target_path: "state.ui", expression: uiAmount("state.__raw") },
        { target_path: "results.rng", expression: { JsonToBytes: { expr: ref("oracle.value") } } },
        {
          target_path: "results.square",
          expression: mapped("results.rng", {
            Binary: { op: "Mod", left: { Var: { name: "r" } }, right: { Literal: { value: 25 } } },
          }),
        },
      ],
      views: [
        {
          id: "Round/latest",
          source: { Entity: { name: "Round" } },
          pipeline: [{ Sort: { key: path("id.round_id"), order: "desc" } }],
          output: "Collection",
        },
        { id: "Round/grouped", pipeline: [{ GroupBy: { key: path("state.seed") } }], output: "Collection" },
      ],
    },
  ],
})

type Account = { readonly owner: Address; readonly data: Uint8Array }

/** A Solana RPC that has the blocks and accounts that the test gives it. */
export const startScriptedRpc = async () => {
  const hash = (slot: number) => getBase58Decoder().decode(new Uint8Array(32).fill(slot % 255))
  const blocks = new Map<number, string[]>([[1, []]])
  const accounts = new Map<string, Account>()
  const answer = (method: string, params: readonly unknown[]): unknown => {
    const newest = Math.max(...blocks.keys())
    const context = { slot: newest }
    switch (method) {
      case "getSlot":
        return newest
      case "getFirstAvailableBlock":
        return 1
      case "getBlocks":
        return [...blocks.keys()].filter((slot) => slot >= Number(params[0]) && slot <= Number(params[1]))
      case "getBlock": {
        const slot = Number(params[0])
        const meta = { err: null, innerInstructions: [], loadedAddresses: { writable: [], readonly: [] } }
        const transactions = (blocks.get(slot) ?? []).map((wire) => ({
          transaction: [wire, "base64"],
          meta,
          version: 0,
        }))
        return { blockhash: hash(slot), blockTime: 1_700_000_000 + slot, parentSlot: slot - 1, transactions }
      }
      case "getMultipleAccounts": {
        const value = (params[0] as string[]).map((one) => {
          const account = accounts.get(one)
          return (
            account && {
              owner: account.owner,
              data: [Buffer.from(account.data).toString("base64"), "base64"],
              lamports: 1,
            }
          )
        })
        return { context, value: value.map((one) => one ?? null) }
      }
      default:
        throw new Error(method)
    }
  }
  const server = await startReceiver()
  server.answer(({ body }, response) => {
    const { id, method, params } = JSON.parse(String(body))
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: answer(method, params) }))
  })
  const payer = await generateKeyPairSigner()
  return {
    url: server.url,
    close: server.close,
    payer: payer.address,
    put: (at: Address, account: Account) => accounts.set(at, account),
    /** Adds a block with one transaction; gives its signature. */
    add: async (slot: number, ...instructions: Instruction[]): Promise<string> => {
      const { base64, signature } = await signTransaction(payer, instructions, { blockhash: hash(slot) })
      blocks.set(slot, [base64])
      return signature
    },
  }
}

export const deploy = (
  game: Address,
  signer: Address,
  round: Address,
  oracleVar: Address,
  amount: bigint,
): Instruction => {
  const data = Buffer.alloc(13)
  data.writeUInt8(6)
  data.writeBigUInt64LE(amount, 1)
  data.writeUInt32LE(7, 9)
  const { READONLY, WRITABLE, WRITABLE_SIGNER } = AccountRole
  return call(game, data, [signer, WRITABLE_SIGNER], [round, WRITABLE], [oracleVar, READONLY])
}

export const roundData = (id: bigint, deployed: readonly bigint[], expiresAt: bigint): Uint8Array => {
  const data = Buffer.alloc(8 + 8 + 24 + 8 + 4 + 33)
  data.writeUInt8(109)
  for (const [index, value] of [id, ...deployed, expiresAt].entries()) data.writeBigUInt64LE(value, 8 + 8 * index)
  data.set([0xde, 0xad, 0xbe, 0xef], 48)
  return data
}
