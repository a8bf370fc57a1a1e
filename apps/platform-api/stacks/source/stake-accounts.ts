import { path, type Stack } from "./compose.ts"
import { instruction, type Program, struct, u32, variants } from "./program.ts"

const stake: Program = {
  name: "stake",
  program_id: "Stake11111111111111111111111111111111111111",
  version: "1.0.0",
  discriminant_size: 4,
  accounts: { StakeAccount: [] },
  types: [
    struct("StakeAccount", "A stake account: one enum, padded to 200 bytes.", { state: { defined: "StakeStateV2" } }),
    variants("StakeStateV2", "What a stake account holds, from creation to delegation.", [
      "Uninitialized",
      { Initialized: [{ defined: "Meta" }] },
      { Stake: [{ defined: "Meta" }, { defined: "Stake" }, { defined: "StakeFlags" }] },
      "RewardsPool",
    ]),
    struct("Meta", "Who controls the stake, and what of it stays behind as rent.", {
      rent_exempt_reserve: "u64",
      authorized: { defined: "Authorized" },
      lockup: { defined: "Lockup" },
    }),
    struct("Authorized", "The two authorities: one delegates, one takes lamports out.", {
      staker: "publicKey",
      withdrawer: "publicKey",
    }),
    struct("Lockup", "Withdrawals wait for both the time and the epoch, unless the custodian signs too.", {
      unix_timestamp: "i64",
      epoch: "u64",
      custodian: "publicKey",
    }),
    struct("Stake", "A delegation, with the vote credits up to which its rewards are paid.", {
      delegation: { defined: "Delegation" },
      credits_observed: "u64",
    }),
    struct("Delegation", "Which vote account the stake backs, and since when.", {
      voter_pubkey: "publicKey",
      stake: "u64",
      activation_epoch: "u64",
      deactivation_epoch: "u64",
      warmup_cooldown_rate: "f64",
    }),
    struct("StakeFlags", "Restrictions, one per bit.", { bits: "u8" }),
    struct("LockupArgs", "The parts of a lockup to change.", {
      unix_timestamp: { option: "i64" },
      epoch: { option: "u64" },
      custodian: { option: "publicKey" },
    }),
    variants("StakeAuthorize", "Which authority an instruction replaces.", ["Staker", "Withdrawer"]),
  ],
  instructions: [
    instruction(
      "authorize",
      u32(1),
      "Hands one of the two authorities to another key.",
      { stake: "w", clock: "", authority: "s", custodian: "so" },
      { newAuthority: "publicKey", kind: { defined: "StakeAuthorize" } },
    ),
    instruction(
      "delegateStake",
      u32(2),
      "Delegates the whole stake to a vote account; it warms up from the next epoch.",
      {
        stake: "w",
        vote: "",
        clock: "",
        stakeHistory: "",
        unused: "",
        authority: "s",
      },
    ),
    instruction(
      "split",
      u32(3),
      "Moves a part of the stake into another stake account.",
      { stake: "w", split: "w", authority: "s" },
      { lamports: "u64" },
    ),
    instruction(
      "withdraw",
      u32(4),
      "Takes out lamports that are not staked.",
      { stake: "w", recipient: "w", clock: "", stakeHistory: "", authority: "s", custodian: "so" },
      { lamports: "u64" },
    ),
    instruction("deactivate", u32(5), "Ends the delegation; the stake cools down from the next epoch.", {
      stake: "w",
      clock: "",
      authority: "s",
    }),
    instruction(
      "setLockup",
      u32(6),
      "Changes the lockup: the withdrawer before it is in force, the custodian while it is.",
      { stake: "w", authority: "s" },
      { lockup: { defined: "LockupArgs" } },
    ),
  ],
  errors: [
    { code: 0, name: "NoCreditsToRedeem", msg: "There are no credits to redeem" },
    { code: 1, name: "LockupInForce", msg: "The lockup has not ended yet" },
    { code: 2, name: "AlreadyDeactivated", msg: "The stake is deactivated already" },
    { code: 4, name: "InsufficientStake", msg: "The split would exceed what is staked" },
  ],
}

const vote: Program = {
  name: "vote",
  program_id: "Vote111111111111111111111111111111111111111",
  version: "1.0.0",
  discriminant_size: 4,
  accounts: { VoteState: [] },
  types: [
    struct("VoteState", "A validator's votes and the credits they earned.", {
      node_pubkey: "publicKey",
      authorized_withdrawer: "publicKey",
      commission: "u8",
      votes: { vec: { defined: "LandedVote" } },
      root_slot: { option: "u64" },
      authorized_voters: { bTreeMap: ["u64", "publicKey"] },
      prior_voters: { defined: "PriorVoters" },
      epoch_credits: { vec: { tuple: ["u64", "u64", "u64"] } },
      last_timestamp: { defined: "BlockTimestamp" },
    }),
    struct("LandedVote", "A vote in the tower, and how many slots late it landed.", {
      latency: "u8",
      lockout: { defined: "Lockout" },
    }),
    struct(
      "Lockout",
      "A slot voted for; each confirmation doubles the time for which no other fork may be voted for.",
      {
        slot: "u64",
        confirmation_count: "u32",
      },
    ),
    struct("PriorVoters", "The last 32 authorized voters, with the epochs from and until which they voted.", {
      buf: { array: [{ tuple: ["publicKey", "u64", "u64"] }, 32] },
      idx: "u64",
      is_empty: "bool",
    }),
    struct("BlockTimestamp", "The last time a vote told.", { slot: "u64", timestamp: "i64" }),
  ],
  instructions: [
    instruction(
      "withdraw",
      u32(3),
      "Takes lamports out of a vote account.",
      { vote: "w", recipient: "w", authority: "s" },
      { lamports: "u64" },
    ),
    instruction(
      "updateCommission",
      u32(5),
      "Sets the share of the rewards that the validator keeps.",
      {
        vote: "w",
        authority: "s",
      },
      { commission: "u8" },
    ),
  ],
  errors: [
    { code: 0, name: "VoteTooOld", msg: "The vote is older than the last one" },
    { code: 1, name: "SlotsMismatch", msg: "The vote's slots are not in the slot hashes" },
  ],
}

const account = "stake::StakeAccountState"
const setLockup = "stake::SetLockupIxState"
const authorize = "stake::AuthorizeIxState"
const voteAccount = "vote::VoteStateState"
const delegate = "stake::DelegateStakeIxState"

export const stakeAccounts: Stack = {
  stackName: "StakeAccountsStream",
  programs: [stake, vote],
  entities: [
    {
      name: "StakeAccount",
      program: "stake",
      primaryKeys: ["id.address", "id.address", "id.address"],
      lookups: ["delegation.voter"],
      keyed: { [account]: "__account_address", [setLockup]: "accounts.stake", [authorize]: "accounts.stake" },
      sections: {
        id: { address: { type: "String", on: account, at: "__account_address", how: "SetOnce" } },
        authority: {
          staker: {
            type: "Option<String>",
            on: account,
            at: "state.meta.authorized.staker",
            transform: "Base58Encode",
          },
          withdrawer: {
            type: "Option<String>",
            on: account,
            at: "state.meta.authorized.withdrawer",
            transform: "Base58Encode",
          },
          last_change: { type: "Option<stake_sdk::types::StakeAuthorize>", on: authorize, at: "data.kind" },
        },
        "authority.lockup": {
          until: { type: "Option<i64>", on: account, at: "state.meta.lockup.unix_timestamp", timestamp: true },
          until_epoch: { type: "Option<u64>", on: account, at: "state.meta.lockup.epoch" },
          custodian: {
            type: "Option<String>",
            on: account,
            at: "state.meta.lockup.custodian",
            transform: "Base58Encode",
          },
        },
        delegation: {
          voter: {
            type: "Option<String>",
            on: account,
            at: "state.stake.delegation.voter_pubkey",
            transform: "Base58Encode",
          },
          lamports: { type: "Option<u64>", on: account, at: "state.stake.delegation.stake" },
          sol: { type: "Option<f64>", ratio: { of: "delegation.lamports", over: 1_000_000_000 } },
          activation_epoch: { type: "Option<u64>", on: account, at: "state.stake.delegation.activation_epoch" },
          deactivation_epoch: { type: "Option<u64>", on: account, at: "state.stake.delegation.deactivation_epoch" },
          credits_observed: { type: "Option<u64>", on: account, at: "state.stake.credits_observed" },
          // The runtime has ignored the stored rate since it became a constant of the cluster.
          stored_rate: {
            type: "Option<f64>",
            on: account,
            at: "state.stake.delegation.warmup_cooldown_rate",
            emit: false,
          },
        },
        root: {
          state: { type: "Option<stake_sdk::types::StakeStateV2>", on: account },
          lockup_changes: {
            type: "Option<Vec<stake_sdk::types::LockupArgs>>",
            on: setLockup,
            at: "data.lockup",
            how: "Append",
          },
        },
      },
      nested: { "authority.lockup": "authority" },
      views: [
        {
          id: "StakeAccount/newest",
          pipeline: [{ Sort: { key: path("delegation.activation_epoch"), order: "desc" } }, { Take: { count: 200 } }],
          output: "Collection",
        },
        { id: "StakeAccount/by-voter", pipeline: [], output: { Keyed: { key_field: path("delegation.voter") } } },
        { id: "StakeAccount/largest", pipeline: [{ MaxBy: { key: path("delegation.lamports") } }], output: "Single" },
      ],
    },
    {
      name: "Validator",
      program: "vote",
      primaryKeys: ["id.vote_address"],
      lookups: ["id.identity"],
      keyed: { [voteAccount]: "__account_address", [delegate]: "accounts.vote" },
      sections: {
        id: {
          vote_address: { type: "String", on: voteAccount, at: "__account_address", how: "SetOnce" },
          identity: { type: "Option<String>", on: voteAccount, at: "node_pubkey", transform: "Base58Encode" },
        },
        voting: {
          commission: { type: "Option<u8>", on: voteAccount, at: "commission" },
          root_slot: { type: "Option<u64>", on: voteAccount, at: "root_slot" },
          tower: { type: "Option<Vec<vote_sdk::types::LandedVote>>", on: voteAccount, at: "votes" },
          epoch_credits: { type: "Option<Vec<(u64,u64,u64)>>", on: voteAccount, at: "epoch_credits" },
          last_vote_at: { type: "Option<i64>", on: voteAccount, at: "last_timestamp.timestamp", timestamp: true },
        },
        delegations: {
          count: { type: "Option<u64>", on: delegate, at: "data", how: "Count" },
          stake_accounts: { type: "Option<u64>", on: delegate, at: "accounts.stake", how: "UniqueCount" },
        },
        root: { snapshot: { type: "Option<vote_sdk::accounts::VoteState>", on: voteAccount } },
      },
      views: [
        {
          id: "Validator/lowest-commission",
          pipeline: [{ Sort: { key: path("voting.commission"), order: "asc" } }, { Take: { count: 100 } }],
          output: "Collection",
        },
      ],
    },
  ],
}
