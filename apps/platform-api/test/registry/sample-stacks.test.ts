import { hash } from "node:crypto"
import canonicalize from "canonicalize"
import { expect, test } from "vitest"
import { contentHash } from "../../src/registry/ast/content-hash.ts"
import { deriveSchema } from "../../src/registry/schema/derive-schema.ts"
import { readAst } from "../../src/registry/ast/read-ast.ts"
import { sampleStacks } from "../../stacks/index.ts"
import { sampleText } from "./small-ast.ts"

const schemaOf = (name: string) => deriveSchema(readAst(sampleText(name)))
const outline = (name: string) => {
  const { stack_name, entities, types } = schemaOf(name)
  return {
    stack_name,
    entities: Object.fromEntries(entities.map((entity) => [entity.name, entity.fields.length])),
    types: types.map((type) => type.name).join(" "),
  }
}

test("the samples can stand in one registry: their names are valid and distinct, transfers has a relay", () => {
  const names = sampleStacks.map(({ name }) => name)
  expect(names).toEqual(["transfers", "stake-accounts", "name-service", "token-swaps"])
  for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/)
  expect(sampleStacks[0]).toMatchObject({ relay: true })
})

test.each(sampleStacks)("the hashes in the file of $name are those of its content", ({ name }) => {
  const { content_hash, ...stack } = readAst(sampleText(name))
  expect(content_hash).toBe(contentHash(stack))
  for (const { content_hash: own, ...entity } of stack.entities) {
    expect(own).toBe(hash("sha256", canonicalize(entity) ?? ""))
  }
})

test.each(sampleStacks)("the program ids of $name are 32 bytes in base58", ({ name }) => {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
  for (const id of readAst(sampleText(name)).program_ids ?? []) {
    const digits = Array.from(id, (char) => alphabet.indexOf(char))
    const number = digits.reduce((sum, digit) => sum * 58n + BigInt(digit), 0n)
    const zeros = /^1*/.exec(id)?.[0].length ?? 0
    const bytes = number === 0n ? 0 : Math.ceil(number.toString(16).length / 2)
    expect(digits).not.toContain(-1)
    expect(zeros + bytes).toBe(32)
  }
})

test("no two samples share a hash", () => {
  const hashes = sampleStacks.map(({ name }) => contentHash(readAst(sampleText(name))))
  expect(new Set(hashes).size).toBe(sampleStacks.length)
})

test("transfers: SOL transfers, wallets and token accounts, over the system and the token program", () => {
  expect(outline("transfers")).toEqual({
    stack_name: "TransfersStream",
    entities: { SolTransfer: 9, Wallet: 8, TokenAccount: 11 },
    types: "Account AccountState FeeCalculator Mint Nonce NonceData NonceState SeededSource",
  })
  const [transfer, wallet, account] = schemaOf("transfers").entities
  expect([transfer?.primary_keys, wallet?.primary_keys]).toEqual([["id.signature"], ["id.address"]])
  expect(transfer?.views.map(({ id, mode }) => `${id} ${mode}`)).toEqual([
    "SolTransfer/state state",
    "SolTransfer/list list",
    "SolTransfer/latest list",
    "SolTransfer/largest state",
    "SolTransfer/by-destination state",
  ])
  const reserve = { path: "balance.native_reserve", rust_type: "Option<u64>", nullable: true, section: "balance" }
  expect(account?.fields).toContainEqual(reserve)
})

test("stake-accounts: an enum whose payloads reach half of the types, tuples, maps and a section in a section", () => {
  expect(outline("stake-accounts")).toEqual({
    stack_name: "StakeAccountsStream",
    entities: { StakeAccount: 15, Validator: 10 },
    types:
      "Authorized BlockTimestamp Delegation LandedVote Lockout Lockup LockupArgs Meta PriorVoters Stake StakeAuthorize " +
      "StakeFlags StakeStateV2 VoteState",
  })
  const { entities, types } = schemaOf("stake-accounts")
  const paths = entities.flatMap(({ fields }) => fields.map(({ path, rust_type }) => `${path}: ${rust_type}`))
  expect(paths).toEqual(
    expect.arrayContaining(["authority.lockup.until: i64", "voting.epoch_credits: Vec<(u64,u64,u64)>"]),
  )
  const variants = ["Uninitialized", "Initialized", "Stake", "RewardsPool"]
  expect(types).toContainEqual({ name: "StakeStateV2", kind: "enum", variants })
})

test("name-service: bytes and arrays of bytes, and raw data that is not emitted", () => {
  expect(outline("name-service")).toEqual({
    stack_name: "NameServiceStream",
    entities: { NameRecord: 15, ParentName: 5 },
    types: "CreateArgs NameRecordHeader OwnerChange UpdateArgs",
  })
  const { fields = [] } = schemaOf("name-service").entities[0] ?? {}
  expect(fields.map(({ path }) => path)).not.toContain("content.raw")
  expect(fields).toContainEqual({ path: "id.hashed_name", rust_type: "[u8;32]", nullable: true, section: "id" })
})

test("token-swaps: two programs, each with a Position of its own, and a key of three fields", () => {
  expect(outline("token-swaps")).toEqual({
    stack_name: "TokenSwapsStream",
    entities: { Pool: 17, OrderBook: 13, OpenOrders: 9 },
    types:
      "OpenOrder OracleConfig PlaceOrderArgs PlaceOrderType Position SelfTradeBehavior Side SwapArgs Whirlpool " +
      "WhirlpoolRewardInfo",
  })
  const { entities, types } = schemaOf("token-swaps")
  expect(entities[2]?.primary_keys).toEqual(["id.owner", "id.market", "id.account_num"])
  const position = types.find(({ name }) => name === "Position")
  expect(position).toMatchObject({ fields: [{ name: "bids_base_lots" }, ...Array.from({ length: 9 }, () => ({}))] })
})
