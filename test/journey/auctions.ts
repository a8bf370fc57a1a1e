// A small stack in two versions; the second takes a field away from its readers and changes another.
type Field = readonly [name: string, rustType: string]

const field = ([field_name, rust_type_name]: Field) => ({
  field_name,
  rust_type_name,
  base_type: "Any",
  is_optional: false,
  is_array: false,
  inner_type: null,
  emit: true,
})

const stack = (...state: readonly Field[]) => ({
  ast_version: "0.0.1",
  stack_name: "AuctionsStream",
  program_ids: [],
  idls: [],
  entities: [
    {
      state_name: "Auction",
      identity: { primary_keys: ["id.address"] },
      handlers: [],
      sections: [
        { name: "id", fields: [field(["address", "String"])] },
        { name: "state", fields: state.map(field) },
      ],
      views: [],
    },
  ],
  instructions: [],
})

export const auctions = {
  first: stack(["highest_bid", "u64"], ["bidder", "String"], ["ends_at", "i64"]),
  breaking: stack(["highest_bid", "u128"], ["ends_at", "i64"], ["reserve_met", "bool"]),
}
