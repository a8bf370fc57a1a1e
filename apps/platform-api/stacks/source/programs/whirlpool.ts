import { anchor, instruction, type Program, struct } from "../program.ts"

// Written as Anchor's IDLs are since 0.30: `pubkey`, and `defined` with an object.
const defined = (name: string) => ({ defined: { name } })

export const whirlpool: Program = {
  name: "whirlpool",
  program_id: "whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc",
  version: "0.3.0",
  discriminant_size: 8,
  accounts: { Whirlpool: anchor("account:Whirlpool"), Position: anchor("account:Position") },
  types: [
    struct("Whirlpool", "A concentrated-liquidity pool of two tokens; prices are Q64.64 square roots.", {
      whirlpools_config: "pubkey",
      whirlpool_bump: { array: ["u8", 1] },
      tick_spacing: "u16",
      fee_tier_index_seed: { array: ["u8", 2] },
      fee_rate: "u16",
      protocol_fee_rate: "u16",
      liquidity: "u128",
      sqrt_price: "u128",
      tick_current_index: "i32",
      protocol_fee_owed_a: "u64",
      protocol_fee_owed_b: "u64",
      token_mint_a: "pubkey",
      token_vault_a: "pubkey",
      fee_growth_global_a: "u128",
      token_mint_b: "pubkey",
      token_vault_b: "pubkey",
      fee_growth_global_b: "u128",
      reward_last_updated_timestamp: "u64",
      reward_infos: { array: [defined("WhirlpoolRewardInfo"), 3] },
    }),
    struct("WhirlpoolRewardInfo", "One of up to three tokens that the pool pays to those who provide liquidity.", {
      mint: "pubkey",
      vault: "pubkey",
      extension: { array: ["u8", 32] },
      emissions_per_second_x64: "u128",
      growth_global_x64: "u128",
    }),
    struct("Position", "Liquidity between two ticks, owned by whoever holds the position's token.", {
      whirlpool: "pubkey",
      position_mint: "pubkey",
      liquidity: "u128",
      tick_lower_index: "i32",
      tick_upper_index: "i32",
      fee_growth_checkpoint_a: "u128",
      fee_owed_a: "u64",
      fee_growth_checkpoint_b: "u128",
      fee_owed_b: "u64",
      reward_infos: { array: [defined("PositionRewardInfo"), 3] },
    }),
    struct("PositionRewardInfo", "What a position has earned of one reward.", {
      growth_inside_checkpoint: "u128",
      amount_owed: "u64",
    }),
    struct("SwapArgs", "An exact-in or exact-out swap, with the worst result that the trader accepts.", {
      amount: "u64",
      other_amount_threshold: "u64",
      sqrt_price_limit: "u128",
      amount_specified_is_input: "bool",
      a_to_b: "bool",
    }),
  ],
  instructions: [
    instruction(
      "swap",
      anchor("global:swap"),
      "Swaps one of the pool's tokens for the other, through at most three tick arrays.",
      {
        tokenProgram: "",
        tokenAuthority: "s",
        whirlpool: "w",
        tokenOwnerAccountA: "w",
        tokenVaultA: "w",
        tokenOwnerAccountB: "w",
        tokenVaultB: "w",
        tickArray0: "w",
        tickArray1: "w",
        tickArray2: "w",
        oracle: "",
      },
      {
        amount: "u64",
        otherAmountThreshold: "u64",
        sqrtPriceLimit: "u128",
        amountSpecifiedIsInput: "bool",
        aToB: "bool",
      },
    ),
  ],
  errors: [
    { code: 6011, name: "SqrtPriceOutOfBounds", msg: "The price limit is outside what the pool can represent" },
    { code: 6036, name: "AmountOutBelowMinimum", msg: "The trader would get less than asked for" },
  ],
  pdas: {
    position: [
      { type: "literal", value: "position" },
      { type: "accountRef", account_name: "positionMint" },
    ],
    oracle: [
      { type: "literal", value: "oracle" },
      { type: "accountRef", account_name: "whirlpool" },
    ],
  },
}
