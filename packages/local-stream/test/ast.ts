// Parts of a stack's AST, as the programs that write them spell them.
export const path = (dotted: string) => ({ segments: dotted.split("."), offsets: null })

export const from = (dotted: string) => ({ FromSource: { path: path(dotted), default: null, transform: null } })

export const set = (target_path: string, population: string, source: object, more: object = {}) => ({
  target_path,
  source,
  transform: null,
  population,
  ...more,
})

/** What becomes of one kind of account (`program::NameState`) or instruction (`program::NameIxState`). */
export const handler = (type_name: string, key_resolution: object, mappings: object[], conditions: object[] = []) => ({
  source: {
    Source: {
      program_id: null,
      discriminator: null,
      type_name,
      is_account: type_name.endsWith("State") && !type_name.endsWith("IxState"),
    },
  },
  key_resolution,
  mappings,
  conditions,
})

export const embedded = (primary: string) => ({ Embedded: { primary_field: path(primary) } })

export const lookup = (primary: string) => ({ Lookup: { primary_field: path(primary) } })

export const field = (field_name: string, rust_type_name: string, emit = true) => ({ field_name, rust_type_name, emit })
