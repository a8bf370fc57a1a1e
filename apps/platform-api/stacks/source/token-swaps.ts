import { path, type Stack } from "./compose.ts"
import { openbook } from "./programs/openbook.ts"
import { whirlpool } from "./programs/whirlpool.ts"

const pool = "whirlpool::WhirlpoolState"
const swap = "whirlpool::SwapIxState"
const market = "openbook::MarketState"
const openOrders = "openbook::OpenOrdersAccountState"
const placeOrder = "openbook::PlaceOrderIxState"
const settle = "openbook::SettleFundsIxState"

export const tokenSwaps: Stack = {
  stackName: "TokenSwapsStream",
  programs: [whirlpool, openbook],
  entities: [
    {
      name: "Pool",
      program: "whirlpool",
      primaryKeys: ["id.address", "id.address"],
      lookups: ["id.mint_a", "id.mint_b"],
      keyed: { [pool]: "__account_address", [swap]: "accounts.whirlpool" },
      sections: {
        id: {
          address: { type: "String", on: pool, at: "__account_address", how: "SetOnce" },
          mint_a: { type: "Option<String>", on: pool, at: "token_mint_a", how: "SetOnce", transform: "Base58Encode" },
          mint_b: { type: "Option<String>", on: pool, at: "token_mint_b", how: "SetOnce", transform: "Base58Encode" },
        },
        price: {
          sqrt_price: { type: "Option<u128>", on: pool, at: "sqrt_price" },
          tick: { type: "Option<i32>", on: pool, at: "tick_current_index" },
          tick_spacing: { type: "Option<u16>", on: pool, at: "tick_spacing" },
          liquidity: { type: "Option<u128>", on: pool, at: "liquidity" },
        },
        "price.fees": {
          rate: { type: "Option<u16>", on: pool, at: "fee_rate" },
          percent: { type: "Option<f64>", ratio: { of: "price.fees.rate", over: 10_000 } },
          protocol_owed_a: { type: "Option<u64>", on: pool, at: "protocol_fee_owed_a" },
          protocol_owed_b: { type: "Option<u64>", on: pool, at: "protocol_fee_owed_b" },
        },
        volume: {
          swaps: { type: "Option<u64>", on: swap, at: "data", how: "Count" },
          traders: { type: "Option<u64>", on: swap, at: "accounts.tokenAuthority", how: "UniqueCount" },
          largest: { type: "Option<u64>", on: swap, at: "data.amount", how: "Max" },
          last_swap_at: { type: "Option<i64>", on: swap, at: "@timestamp", timestamp: true },
          last_raw: { type: "Option<Vec<u8>>", on: swap, at: "data", emit: false },
        },
        root: {
          snapshot: { type: "Option<whirlpool_sdk::accounts::Whirlpool>", on: pool },
          last_swap: { type: "Option<whirlpool_sdk::types::SwapArgs>", on: swap },
        },
      },
      nested: { "price.fees": "price" },
      views: [
        {
          id: "Pool/busiest",
          pipeline: [{ Sort: { key: path("volume.swaps"), order: "desc" } }, { Take: { count: 20 } }],
          output: "Collection",
        },
        { id: "Pool/deepest", pipeline: [{ MaxBy: { key: path("price.liquidity") } }], output: "Single" },
        { id: "Pool/by-mint", pipeline: [], output: { Keyed: { key_field: path("id.mint_a") } } },
      ],
    },
    {
      name: "OrderBook",
      program: "openbook",
      primaryKeys: ["id.market"],
      keyed: { [market]: "__account_address", [placeOrder]: "accounts.market" },
      sections: {
        id: {
          market: { type: "String", on: market, at: "__account_address", how: "SetOnce" },
          base_mint: { type: "Option<String>", on: market, at: "base_mint", how: "SetOnce", transform: "Base58Encode" },
          quote_mint: {
            type: "Option<String>",
            on: market,
            at: "quote_mint",
            how: "SetOnce",
            transform: "Base58Encode",
          },
        },
        lots: {
          base_size: { type: "Option<i64>", on: market, at: "base_lot_size" },
          quote_size: { type: "Option<i64>", on: market, at: "quote_lot_size" },
        },
        fees: {
          maker: { type: "Option<i64>", on: market, at: "maker_fee" },
          taker: { type: "Option<i64>", on: market, at: "taker_fee" },
          accrued: { type: "Option<u128>", on: market, at: "fees_accrued" },
        },
        activity: {
          orders_seen: { type: "Option<u64>", on: market, at: "seq_num" },
          last_side: { type: "Option<openbook_sdk::types::Side>", on: placeOrder, at: "data.args.side" },
          last_order: { type: "Option<openbook_sdk::types::PlaceOrderArgs>", on: placeOrder, at: "data.args" },
          last_order_at: { type: "Option<i64>", on: placeOrder, at: "@timestamp", timestamp: true },
        },
        root: { oracle: { type: "Option<openbook_sdk::types::OracleConfig>", on: market, at: "oracle_config" } },
      },
      views: [
        {
          id: "OrderBook/most-active",
          pipeline: [{ Sort: { key: path("activity.orders_seen"), order: "desc" } }, "First"],
          output: "Single",
        },
      ],
    },
    {
      name: "OpenOrders",
      program: "openbook",
      primaryKeys: ["id.owner", "id.market", "id.account_num", "id.owner"],
      lookups: ["id.address"],
      keyed: { [openOrders]: "__account_address", [settle]: "accounts.openOrdersAccount" },
      sections: {
        id: {
          owner: { type: "String", on: openOrders, at: "owner", how: "SetOnce", transform: "Base58Encode" },
          market: { type: "String", on: openOrders, at: "market", how: "SetOnce", transform: "Base58Encode" },
          account_num: { type: "u32", on: openOrders, at: "account_num", how: "SetOnce" },
          address: { type: "String", on: openOrders, at: "__account_address", how: "SetOnce" },
        },
        free: {
          base_native: { type: "Option<u64>", on: openOrders, at: "position.base_free_native" },
          quote_native: { type: "Option<u64>", on: openOrders, at: "position.quote_free_native" },
          settlements: { type: "Option<u64>", on: settle, at: "data", how: "Count" },
        },
        root: {
          position: { type: "Option<openbook_sdk::types::Position>", on: openOrders, at: "position" },
          orders: { type: "Option<Vec<openbook_sdk::types::OpenOrder>>", on: openOrders, at: "open_orders" },
        },
      },
      views: [{ id: "OpenOrders/by-owner", pipeline: [], output: { Keyed: { key_field: path("id.owner") } } }],
    },
  ],
}
