// Writes a stack's short notation out as the AST that the stack compiler produces.
import { createHash } from "node:crypto"
import canonicalize from "canonicalize"
import { fieldType, spaced } from "./field-type.ts"
import type { Program } from "./program.ts"

type Population = "SetOnce" | "LastWrite" | "Sum" | "Max" | "Count" | "UniqueCount" | "Append"

export interface Field {
  type: string
  /** The account or instruction that sets the field (`token::MintState`, `token::TransferIxState`), or none if computed. */
  on?: string
  /** Where in it, `accounts.mint` or `data.amount`; `@slot` is the transaction's context; none takes the whole. */
  at?: string
  how?: Population
  transform?: "Base58Encode"
  timestamp?: true
  emit?: false
  /** Computed: the field at this path as a float, over the divisor. */
  ratio?: { of: string; over: number }
}

export interface Entity {
  name: string
  program: string
  primaryKeys: string[]
  lookups?: string[]
  /** For each source, the path in it that holds the entity's key; `lookup:` when the key is found by an index. */
  keyed: Record<string, string>
  sections: Record<string, Record<string, Field>>
  /** Sections that stand inside another one's struct, by name: `price.fees` in `price`. */
  nested?: Record<string, string>
  views?: { id: string; pipeline: unknown[]; output: unknown }[]
}

export interface Stack {
  stackName: string
  programs: Program[]
  entities: Entity[]
}

const hash = (value: unknown) =>
  createHash("sha256")
    .update(canonicalize(value) ?? "")
    .digest("hex")

const withHash = <T extends object>(value: T) => ({ ...value, content_hash: hash(value) })

export const path = (dotted: string) => ({ segments: dotted.split("."), offsets: null })

export function compose({ stackName, programs, entities }: Stack) {
  return withHash({
    ast_version: "0.0.1",
    stack_name: stackName,
    program_ids: programs.map(({ program_id }) => program_id),
    idls: programs.map(composeIdl),
    entities: entities.map((entity) => composeEntity(entity, programs)),
    pdas: Object.fromEntries(programs.map((program) => [program.name, composePdas(program)])),
    instructions: programs.flatMap(composeInstructions),
  })
}

function composeIdl(program: Program) {
  return {
    name: program.name,
    program_id: program.program_id,
    version: program.version,
    accounts: Object.entries(program.accounts).map(([name, discriminator]) => ({
      name,
      discriminator,
      docs: program.types.find((type) => type.name === name)?.docs ?? [],
    })),
    instructions: program.instructions,
    types: program.types,
    events: [],
    errors: program.errors,
    discriminant_size: program.discriminant_size,
  }
}

function composePdas({ pdas = {}, program_id }: Program) {
  return Object.fromEntries(Object.entries(pdas).map(([name, seeds]) => [name, { name, seeds, program_id }]))
}

function composeInstructions(program: Program) {
  return program.instructions.map(({ name, discriminator, docs, accounts, args }) => ({
    name,
    discriminator,
    discriminator_size: program.discriminant_size,
    accounts: accounts.map(({ name: account, signer, writable, optional, address }) => ({
      name: account,
      is_signer: signer,
      is_writable: writable,
      resolution: address === null ? { category: signer ? "signer" : "userProvided" } : { category: "known", address },
      is_optional: optional,
    })),
    args,
    errors: program.errors,
    program_id: program.program_id,
    docs,
  }))
}

function composeEntity(entity: Entity, programs: Program[]) {
  const sections = Object.entries(entity.sections).map(([name, fields]) => ({
    name,
    fields: Object.entries(fields).map(([fieldName, field]) => fieldType(fieldName, field, programs)),
    is_nested_struct: entity.nested?.[name] !== undefined,
    parent_field: entity.nested?.[name] ?? null,
  }))
  const placed = Object.entries(entity.sections).flatMap(([section, fields]) =>
    Object.entries(fields).map(([name, field]) => ({
      target: section === "root" ? name : `${section}.${name}`,
      field,
    })),
  )
  const mapped = sections
    .flatMap(({ fields }) => fields)
    .map((info, index) => [placed[index]?.target ?? "", info] as const)
  const computed = placed.flatMap(({ target, field: { type, ratio } }) => (ratio ? [{ target, type, ratio }] : []))
  return withHash({
    ast_version: "0.0.1",
    state_name: entity.name,
    program_id: programs.find(({ name }) => name === entity.program)?.program_id ?? null,
    idl: null,
    identity: {
      primary_keys: entity.primaryKeys,
      lookup_indexes: (entity.lookups ?? []).map((field_name) => ({ field_name, temporal_field: null })),
    },
    handlers: Object.entries(entity.keyed).map(([source, key]) => composeHandler(source, key, placed)),
    sections,
    field_mappings: Object.fromEntries(mapped.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    resolver_hooks: [],
    instruction_hooks: [],
    resolver_specs: [],
    computed_fields: computed.map(({ target }) => target),
    computed_field_specs: computed.map(({ target, type, ratio: { of, over } }) => ({
      target_path: target,
      expression: {
        Binary: {
          op: "Div",
          left: { Cast: { expr: { FieldRef: { path: of } }, to_type: "f64" } },
          right: { Literal: { value: over } },
        },
      },
      result_type: spaced(type),
    })),
    views: (entity.views ?? []).map(({ id, pipeline, output }) => ({
      id,
      source: { Entity: { name: entity.name } },
      pipeline,
      output,
    })),
  })
}

function composeHandler(source: string, key: string, placed: { target: string; field: Field }[]) {
  const isLookup = key.startsWith("lookup:")
  const primary_field = path(key.replace(/^lookup:/, ""))
  return {
    source: {
      Source: { program_id: null, discriminator: null, type_name: source, is_account: !source.endsWith("IxState") },
    },
    key_resolution: isLookup ? { Lookup: { primary_field } } : { Embedded: { primary_field } },
    mappings: placed
      .filter(({ field }) => field.on === source)
      .map(({ target, field }) => ({
        target_path: target,
        source: mappingSource(field),
        transform: null,
        population: field.how ?? "LastWrite",
        emit: field.emit,
      })),
    conditions: [],
    emit: true,
  }
}

function mappingSource({ at, transform }: Field) {
  if (at === undefined) return { AsCapture: { field_transforms: {} } }
  if (at.startsWith("@")) return { FromContext: { field: at.slice(1) } }
  return { FromSource: { path: path(at), default: null, transform: transform ?? null } }
}
