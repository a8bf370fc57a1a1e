import { hash } from "node:crypto"
import { base58Size, isBase58Text } from "@svc/common/base58"
import canonicalize from "canonicalize"
import { expect, test } from "vitest"
import { contentHash, readAst } from "../../src/registry/ast/parse-ast.ts"
import { deriveSchema } from "../../src/registry/schema/derive-schema.ts"
import { sampleStacks } from "../../stacks/index.ts"
import { sampleText } from "./small-ast.ts"

const astOf = (name: string) => readAst(sampleText(name))

test.each(sampleStacks)("the hashes in the file of $name match its content", ({ name }) => {
  const { content_hash, ...stack } = astOf(name)
  expect(content_hash).toBe(contentHash(stack))
  expect(contentHash({ content_hash, ...stack })).not.toBe(content_hash)
  for (const { content_hash: own, ...entity } of stack.entities) {
    expect(own).toBe(hash("sha256", canonicalize(entity) ?? ""))
  }
})

test.each(sampleStacks)("the program ids of $name are 32 bytes in base58", ({ name }) => {
  for (const id of astOf(name).program_ids ?? []) expect([id, isBase58Text(id), base58Size(id)]).toEqual([id, true, 32])
})

test.each([
  [
    "transfers",
    { SolTransfer: 9, Wallet: 8, TokenAccount: 11 },
    "Account AccountState FeeCalculator Mint Nonce NonceData NonceState SeededSource",
  ],
  [
    "stake-accounts",
    { StakeAccount: 15, Validator: 10 },
    "Authorized BlockTimestamp Delegation LandedVote Lockout Lockup LockupArgs Meta PriorVoters Stake StakeAuthorize " +
      "StakeFlags StakeStateV2 VoteState",
  ],
  ["name-service", { NameRecord: 15, ParentName: 5 }, "CreateArgs NameRecordHeader OwnerChange UpdateArgs"],
  [
    "token-swaps",
    { Pool: 17, OrderBook: 13, OpenOrders: 9 },
    "OpenOrder OracleConfig PlaceOrderArgs PlaceOrderType Position SelfTradeBehavior Side SwapArgs Whirlpool " +
      "WhirlpoolRewardInfo",
  ],
])("the schema of %s has the expected entities, numbers of fields, and types", (name, fieldsOf, typeNames) => {
  const { entities, types } = deriveSchema(astOf(name))
  expect(Object.fromEntries(entities.map((entity) => [entity.name, entity.fields.length]))).toEqual(fieldsOf)
  expect(types.map((type) => type.name).join(" ")).toBe(typeNames)
})
