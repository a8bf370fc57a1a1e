import { path, type Stack } from "./compose.ts"
import { instruction, type Program, struct, u32, variants } from "./program.ts"

const system: Program = {
  name: "system",
  program_id: "11111111111111111111111111111111",
  version: "1.0.0",
  discriminant_size: 4,
  accounts: { Nonce: [] },
  types: [
    struct("Nonce", "A durable nonce: a stored blockhash that keeps a signed transaction valid until it is advanced.", {
      version: "u32",
      state: { defined: "NonceState" },
    }),
    variants("NonceState", "What a nonce account holds.", [
      "Uninitialized",
      { Initialized: [{ defined: "NonceData" }] },
    ]),
    struct("NonceData", "An initialized nonce.", {
      authority: "publicKey",
      durable_nonce: { array: ["u8", 32] },
      fee_calculator: { defined: "FeeCalculator" },
    }),
    struct("FeeCalculator", "The signature price at the time the nonce was stored.", { lamports_per_signature: "u64" }),
    struct("SeededSource", "How the source of a seeded transfer is derived: base, seed and owning program.", {
      base: "publicKey",
      seed: "string",
      owner: "publicKey",
    }),
  ],
  instructions: [
    instruction(
      "createAccount",
      u32(0),
      "Creates an account of a given size, funds it and hands it to a program.",
      { payer: "ws", newAccount: "ws" },
      { lamports: "u64", space: "u64", owner: "publicKey" },
    ),
    instruction(
      "transfer",
      u32(2),
      "Moves lamports out of an account that the system program owns.",
      { source: "ws", destination: "w" },
      { lamports: "u64" },
    ),
    instruction(
      "transferWithSeed",
      u32(11),
      "Moves lamports out of an account whose address is derived from a signer and a seed.",
      { source: "w", base: "s", destination: "w" },
      { lamports: "u64", fromSeed: "string", fromOwner: "publicKey" },
    ),
  ],
  errors: [
    { code: 0, name: "AccountAlreadyInUse", msg: "The address is taken by an account already" },
    { code: 1, name: "ResultWithNegativeLamports", msg: "The source holds too few lamports" },
    { code: 5, name: "AddressWithSeedMismatch", msg: "Base, seed and owner do not give this address" },
  ],
}

const token: Program = {
  name: "token",
  program_id: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  version: "3.5.0",
  discriminant_size: 1,
  accounts: { Mint: [], Account: [] },
  types: [
    struct("Mint", "A token: its supply, its decimals, and who may mint and freeze it.", {
      mint_authority: { coption: "publicKey" },
      supply: "u64",
      decimals: "u8",
      is_initialized: "bool",
      freeze_authority: { coption: "publicKey" },
    }),
    struct("Account", "One owner's balance of one token.", {
      mint: "publicKey",
      owner: "publicKey",
      amount: "u64",
      delegate: { coption: "publicKey" },
      state: { defined: "AccountState" },
      is_native: { coption: "u64" },
      delegated_amount: "u64",
      close_authority: { coption: "publicKey" },
    }),
    variants("AccountState", "Whether a token account can be used.", ["Uninitialized", "Initialized", "Frozen"]),
  ],
  instructions: [
    instruction(
      "transfer",
      [3],
      "Moves tokens between two accounts of one mint.",
      { source: "w", destination: "w", authority: "s" },
      { amount: "u64" },
    ),
    instruction("closeAccount", [9], "Closes an empty token account and sends its rent to another account.", {
      account: "w",
      destination: "w",
      owner: "s",
    }),
    instruction(
      "transferChecked",
      [12],
      "Moves tokens and fails unless mint and decimals are the expected ones.",
      { source: "w", mint: "", destination: "w", authority: "s" },
      { amount: "u64", decimals: "u8" },
    ),
  ],
  errors: [
    { code: 1, name: "InsufficientFunds", msg: "The source holds too few tokens" },
    { code: 3, name: "MintMismatch", msg: "The account belongs to another mint" },
    { code: 4, name: "OwnerMismatch", msg: "The signer is not the owner" },
    { code: 17, name: "AccountFrozen", msg: "The account is frozen" },
  ],
}

const transfer = "system::TransferIxState"
const seeded = "system::TransferWithSeedIxState"
const account = "token::AccountState"
const mint = "token::MintState"

export const transfers: Stack = {
  stackName: "TransfersStream",
  programs: [system, token],
  entities: [
    {
      name: "SolTransfer",
      program: "system",
      primaryKeys: ["id.signature", "id.instruction_index"],
      keyed: { [transfer]: "__signature", [seeded]: "__signature" },
      sections: {
        id: {
          signature: { type: "String", on: transfer, at: "@signature", how: "SetOnce" },
          instruction_index: { type: "u32", on: transfer, at: "@instruction_index", how: "SetOnce" },
        },
        parties: {
          source: { type: "Option<String>", on: transfer, at: "accounts.source", transform: "Base58Encode" },
          destination: { type: "Option<String>", on: transfer, at: "accounts.destination", transform: "Base58Encode" },
        },
        amount: {
          lamports: { type: "Option<u64>", on: transfer, at: "data.lamports" },
          sol: { type: "Option<f64>", ratio: { of: "amount.lamports", over: 1_000_000_000 } },
        },
        context: {
          slot: { type: "Option<u64>", on: transfer, at: "@slot" },
          block_time: { type: "Option<i64>", on: transfer, at: "@timestamp", timestamp: true },
          raw: { type: "Option<Vec<u8>>", on: transfer, at: "data", emit: false },
        },
        root: {
          seeded_source: { type: "Option<system_sdk::types::SeededSource>", on: seeded },
        },
      },
      views: [
        {
          id: "SolTransfer/latest",
          pipeline: [{ Sort: { key: path("context.slot"), order: "desc" } }, { Take: { count: 100 } }],
          output: "Collection",
        },
        {
          id: "SolTransfer/largest",
          pipeline: [{ MaxBy: { key: path("amount.lamports") } }],
          output: "Single",
        },
        {
          id: "SolTransfer/by-destination",
          pipeline: [],
          output: { Keyed: { key_field: path("parties.destination") } },
        },
      ],
    },
    {
      name: "Wallet",
      program: "system",
      // The compiler notes a key once for each source that sets it.
      primaryKeys: ["id.address", "id.address"],
      keyed: { [transfer]: "accounts.source", "system::NonceState": "lookup:__account_address" },
      sections: {
        id: {
          address: { type: "String", on: transfer, at: "accounts.source", how: "SetOnce", transform: "Base58Encode" },
        },
        sent: {
          lamports: { type: "Option<u64>", on: transfer, at: "data.lamports", how: "Sum" },
          sol: { type: "Option<f64>", ratio: { of: "sent.lamports", over: 1_000_000_000 } },
          count: { type: "Option<u64>", on: transfer, at: "data", how: "Count" },
          largest: { type: "Option<u64>", on: transfer, at: "data.lamports", how: "Max" },
          recipients: { type: "Option<u64>", on: transfer, at: "accounts.destination", how: "UniqueCount" },
          last_slot: { type: "Option<u64>", on: transfer, at: "@slot" },
        },
        root: { nonce: { type: "Option<system_sdk::accounts::Nonce>", on: "system::NonceState" } },
      },
      views: [
        {
          id: "Wallet/top-senders",
          pipeline: [{ Sort: { key: path("sent.lamports"), order: "desc" } }, { Take: { count: 50 } }],
          output: "Collection",
        },
      ],
    },
    {
      name: "TokenAccount",
      program: "token",
      primaryKeys: ["id.address"],
      lookups: ["id.mint"],
      keyed: { [account]: "__account_address", [mint]: "lookup:__account_address" },
      sections: {
        id: {
          address: { type: "String", on: account, at: "__account_address", how: "SetOnce" },
          mint: { type: "String", on: account, at: "mint", how: "SetOnce", transform: "Base58Encode" },
          owner: { type: "Option<String>", on: account, at: "owner", transform: "Base58Encode" },
        },
        balance: {
          amount: { type: "Option<u64>", on: account, at: "amount" },
          delegated_amount: { type: "Option<u64>", on: account, at: "delegated_amount" },
          native_reserve: { type: "Option<Option<u64>>", on: account, at: "is_native" },
          decimals: { type: "Option<u8>", on: mint, at: "decimals" },
        },
        status: {
          state: { type: "Option<token_sdk::types::AccountState>", on: account, at: "state" },
          delegate: { type: "Option<String>", on: account, at: "delegate", transform: "Base58Encode" },
        },
        root: {
          mint_snapshot: { type: "Option<token_sdk::accounts::Mint>", on: mint },
          account_snapshot: { type: "Option<token_sdk::accounts::Account>", on: account },
        },
      },
      views: [{ id: "TokenAccount/by-owner", pipeline: [], output: { Keyed: { key_field: path("id.owner") } } }],
    },
  ],
}
