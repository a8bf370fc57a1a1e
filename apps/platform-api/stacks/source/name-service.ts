import { path, type Stack } from "./compose.ts"
import { instruction, type Program, struct } from "./program.ts"

const name: Program = {
  name: "name",
  program_id: "namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX",
  version: "0.3.0",
  discriminant_size: 1,
  accounts: { NameRecordHeader: [] },
  types: [
    struct("NameRecordHeader", "The first 96 bytes of a name record; what follows is up to the record's class.", {
      parent_name: "publicKey",
      owner: "publicKey",
      class: "publicKey",
    }),
    struct("CreateArgs", "A new record: the SHA-256 of its prefixed name, its rent and its size.", {
      hashed_name: "bytes",
      lamports: "u64",
      space: "u32",
    }),
    struct("UpdateArgs", "Bytes to write behind the header, and from where.", { offset: "u32", data: "bytes" }),
    struct("OwnerChange", "One hand-over of a name.", { new_owner: "publicKey", by: { option: "publicKey" } }),
  ],
  instructions: [
    instruction(
      "create",
      [0],
      "Creates an empty record at the address that class, parent and hashed name give.",
      { systemProgram: "", payer: "ws", nameRecord: "w", owner: "", class: "", parentName: "", parentOwner: "so" },
      { hashedName: "bytes", lamports: "u64", space: "u32" },
    ),
    instruction(
      "update",
      [1],
      "Writes data behind the header; the owner signs, or the class where there is one.",
      { nameRecord: "w", authority: "s" },
      { offset: "u32", data: "bytes" },
    ),
    instruction(
      "transfer",
      [2],
      "Gives the name to another owner.",
      { nameRecord: "w", owner: "s", class: "so" },
      { newOwner: "publicKey" },
    ),
    instruction("delete", [3], "Empties the record and refunds its rent.", {
      nameRecord: "w",
      owner: "s",
      refund: "w",
    }),
    instruction(
      "realloc",
      [4],
      "Changes the size of the record's data.",
      { systemProgram: "", payer: "ws", nameRecord: "w", owner: "s" },
      { space: "u32" },
    ),
  ],
  errors: [{ code: 0, name: "OutOfSpace", msg: "The data does not fit into the record" }],
  pdas: {
    name_record: [
      { type: "argRef", arg_name: "hashedName", arg_type: "bytes" },
      { type: "accountRef", account_name: "class" },
      { type: "accountRef", account_name: "parentName" },
    ],
  },
}

const header = "name::NameRecordHeaderState"
const create = "name::CreateIxState"
const update = "name::UpdateIxState"
const transfer = "name::TransferIxState"
const remove = "name::DeleteIxState"

export const nameService: Stack = {
  stackName: "NameServiceStream",
  programs: [name],
  entities: [
    {
      name: "NameRecord",
      program: "name",
      primaryKeys: ["id.address"],
      lookups: ["ownership.owner", "id.parent"],
      keyed: {
        [header]: "__account_address",
        [create]: "accounts.nameRecord",
        [update]: "accounts.nameRecord",
        [transfer]: "accounts.nameRecord",
        [remove]: "accounts.nameRecord",
      },
      sections: {
        id: {
          address: { type: "String", on: header, at: "__account_address", how: "SetOnce" },
          parent: { type: "Option<String>", on: header, at: "parent_name", transform: "Base58Encode" },
          class: { type: "Option<String>", on: header, at: "class", transform: "Base58Encode" },
          hashed_name: { type: "Option<[u8;32]>", on: create, at: "data.hashedName", how: "SetOnce" },
        },
        ownership: {
          owner: { type: "Option<String>", on: header, at: "owner", transform: "Base58Encode" },
          transfers: { type: "Option<u64>", on: transfer, at: "data", how: "Count" },
          history: { type: "Option<Vec<name_sdk::types::OwnerChange>>", on: transfer, how: "Append" },
        },
        content: {
          space: { type: "Option<u32>", on: create, at: "data.space" },
          updates: { type: "Option<u64>", on: update, at: "data", how: "Count" },
          last_update_slot: { type: "Option<u64>", on: update, at: "@slot" },
          raw: { type: "Option<Vec<u8>>", on: update, at: "data.data", emit: false },
        },
        lifecycle: {
          created_at: { type: "Option<i64>", on: create, at: "@timestamp", how: "SetOnce", timestamp: true },
          deleted_at: { type: "Option<i64>", on: remove, at: "@timestamp", how: "SetOnce", timestamp: true },
        },
        root: {
          header: { type: "Option<name_sdk::accounts::NameRecordHeader>", on: header },
          creation: { type: "Option<name_sdk::types::CreateArgs>", on: create },
          last_update: { type: "Option<name_sdk::types::UpdateArgs>", on: update },
        },
      },
      views: [
        {
          id: "NameRecord/recent",
          pipeline: [{ Sort: { key: path("lifecycle.created_at"), order: "desc" } }, { Take: { count: 100 } }],
          output: "Collection",
        },
        { id: "NameRecord/by-owner", pipeline: [], output: { Keyed: { key_field: path("ownership.owner") } } },
        {
          id: "NameRecord/first",
          pipeline: [{ MinBy: { key: path("lifecycle.created_at") } }],
          output: "Single",
        },
      ],
    },
    {
      name: "ParentName",
      program: "name",
      primaryKeys: ["id.address"],
      keyed: { [create]: "accounts.parentName" },
      sections: {
        id: {
          address: { type: "String", on: create, at: "accounts.parentName", how: "SetOnce", transform: "Base58Encode" },
        },
        children: {
          created: { type: "Option<u64>", on: create, at: "data", how: "Count" },
          owners: { type: "Option<u64>", on: create, at: "accounts.owner", how: "UniqueCount" },
          rent_lamports: { type: "Option<u64>", on: create, at: "data.lamports", how: "Sum" },
          last_created_slot: { type: "Option<u64>", on: create, at: "@slot" },
        },
      },
    },
  ],
}
