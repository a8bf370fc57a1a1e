// Compiles a stack's AST to what each update does. Lists what the AST uses that isn't supported.
import { isObject } from "@svc/common/json-object"
import { type Ast, type AstEntity, type AstMapping, astShape, pathIn, type Variant } from "./ast.ts"
import { compileExpression } from "./expression.ts"
import { comparison, parsedCondition, readPopulation } from "./fields.ts"
import { createProgram } from "./programs.ts"
import { type Fields, kindOf, supported, transformation, Unsupported, type Value, valueAt } from "./value.ts"
import { compileViews } from "./views.ts"

/** A decoded instruction or account, and where it comes from. */
export type Update = {
  /** The program's address. */
  readonly program: string
  readonly kind: "instruction" | "account"
  readonly name: string
  readonly value: Fields
  readonly context: Context
}

export type Context = {
  readonly signature: string
  readonly slot: bigint
  /** Unix seconds; null for a block without a time. */
  readonly timestamp: bigint | null
  /** Of an instruction: the index of its outermost instruction in the transaction. */
  readonly instruction_index?: number
  readonly account_address?: string
}

type Read = (update: Update) => Value

const contextFields = ["signature", "slot", "timestamp", "instruction_index", "account_address"] as const

/** Reads a path of the source, or, if it starts with two underscores, a field of its context. */
const readPath = (path: readonly string[]): Read => {
  const [first = "", ...others] = path
  if (!first.startsWith("__") || others.length > 0) return ({ value }) => valueAt(value, path)
  const field = contextFields.find((one) => first === `__${one}`)
  if (field === undefined) throw new Unsupported(first)
  return ({ context }) => context[field] ?? null
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Reads the whole source. An instruction gets the fields of its type in the AST, from its accounts and arguments. */
const readCapture = ({ content }: Variant, fields: readonly string[]): Read => {
  const given = isObject(content["field_transforms"]) ? content["field_transforms"] : {}
  const transforms = Object.entries(given).map(([name, change]) => [name, transformation(change)] as const)
  return ({ kind, value }) => {
    const parts = kind === "account" ? [value] : [value["accounts"], value["data"]].filter(isObject)
    const all = Object.assign({}, ...parts) as Record<string, Value>
    for (const [name, transform] of transforms) all[name] = transform(all[name] ?? null)
    if (kind === "account" || fields.length === 0) return kind === "account" ? all : (value["data"] ?? null)
    const bySnake = new Map(Object.entries(all).map(([name, one]) => [snake(name), one]))
    return Object.fromEntries(fields.map((name) => [name, bySnake.get(name) ?? null]))
  }
}

const readSource = (source: Variant, captured: readonly string[]): Read => {
  const { kind, content } = source
  switch (kind) {
    case "FromSource": {
      const [read, transform] = [readPath(pathIn(source, "path")), transformation(content["transform"])]
      return (update) => transform(read(update) ?? (content["default"] as Value) ?? null)
    }
    case "FromContext":
      return readPath([`__${String(content["field"])}`])
    case "AsCapture":
      return readCapture(source, captured)
    case "Constant":
      return () => (content["value"] ?? content) as Value
    default:
      throw new Unsupported(kind)
  }
}

const compileMapping = (mapping: AstMapping, captured: readonly string[]) => {
  for (const word of ["when", "stop"] as const) if (mapping[word]) throw new Unsupported(word)
  const [read, transform] = [readSource(mapping.source, captured), transformation(mapping.transform)]
  return {
    path: mapping.target_path,
    read: (update: Update) => transform(read(update)),
    population: readPopulation(mapping.population),
    holds: mapping.condition?.parsed ? parsedCondition(mapping.condition.parsed) : () => true,
  }
}

type Report = (what: string, uses: string) => void

/** Compiles a part, or reports for each of its fields what isn't supported. */
const attempt = <T>(report: Report, fields: readonly string[], make: () => T): T[] =>
  supported((uses) => fields.forEach((field) => report(`field ${field}`, uses)), make)

const plainName = (name: string): string => name.replaceAll("_", "").toLowerCase()

/** Finds the account or instruction that a type such as `system::TransferIxState` names. */
const findSource = ({ idls }: Ast, typeName: string, isAccount: boolean | null | undefined) => {
  const [, program, name = "", suffix] = /^(?:(\w+)::)?(\w+?)(IxState|State)$/.exec(typeName) ?? []
  const kind = (isAccount ?? suffix === "State") ? "account" : "instruction"
  for (const [index, idl] of idls.entries()) {
    if (program !== undefined && idl.name !== program) continue
    const found = idl[`${kind}s` as const].find((one) => plainName(one.name) === plainName(name))
    if (found !== undefined) return { kind, index, name: found.name } as const
  }
  throw new Unsupported(`the source ${typeName}`)
}

const compileEntity = (ast: Ast, entity: AstEntity, addressOf: (idl: number) => string, report: Report) => {
  const { state_name, identity, sections, resolver_hooks } = entity
  const inEntity = ({ target_path }: { readonly target_path: string }): string => `${state_name}.${target_path}`
  const fields = sections.flatMap((section) =>
    section.fields.map(({ field_name, rust_type_name, emit, resolved_type }) => ({
      path: section.name === "root" ? field_name : `${section.name}.${field_name}`,
      kind: kindOf(rust_type_name),
      emitted: emit !== false,
      inner: resolved_type?.fields.map((inner) => inner.field_name) ?? [],
    })),
  )
  const compileHandler = ({ source, key_resolution, mappings, conditions }: AstEntity["handlers"][number]) => {
    const { type_name, is_account } = source.Source
    const { kind, index, name } = findSource(ast, type_name, is_account)
    const lookup = key_resolution.kind === "Lookup"
    if (!lookup && key_resolution.kind !== "Embedded") throw new Unsupported(`the key ${key_resolution.kind}`)
    const hook = lookup ? resolver_hooks.find(({ account_type }) => account_type === type_name) : undefined
    if (hook !== undefined) throw new Unsupported(hook.strategy.kind)
    return {
      program: addressOf(index),
      kind,
      name,
      /** With `lookup`, the record is found by an indexed field that has this value. */
      key: { read: readPath(pathIn(key_resolution, "primary_field")), lookup },
      conditions: conditions.map(({ field, operator, value }) => comparison(field, operator, value)),
      mappings: mappings.flatMap((mapping) => {
        const captured = fields.find(({ path }) => path === mapping.target_path)?.inner ?? []
        return attempt(report, [inEntity(mapping)], () => compileMapping(mapping, captured))
      }),
    }
  }
  for (const { resolver, extracts } of entity.resolver_specs) {
    for (const extract of extracts) report(`field ${inEntity(extract)}`, `the resolver ${resolver.kind}`)
  }
  return {
    name: state_name,
    fields,
    shown: fields.filter(({ emitted }) => emitted).map(({ path }) => path),
    /** Paths of the fields by which a lookup finds records. */
    indexed: [...new Set([...identity.primary_keys, ...identity.lookup_indexes.map((one) => one.field_name)])],
    handlers: entity.handlers.flatMap((handler) =>
      attempt(report, handler.mappings.map(inEntity), () => compileHandler(handler)),
    ),
    computed: entity.computed_field_specs.flatMap((spec) =>
      attempt(report, [inEntity(spec)], () => ({
        path: spec.target_path,
        compute: compileExpression(spec.expression),
      })),
    ),
    views: compileViews(entity, (id, uses) => report(`view ${id}`, uses)),
  }
}

export type EntityPlan = ReturnType<typeof compileEntity>

/** Throws a ZodError for an AST that can't be read at all. */
export const compileStack = (payload: unknown) => {
  const ast = astShape.parse(payload)
  const unsupported = new Map<string, { readonly what: string; readonly uses: string }>()
  const report: Report = (what, uses) => unsupported.set(`${what} ${uses}`, { what, uses })
  const addressOf = (index: number): string => ast.idls[index]?.program_id ?? ast.program_ids[index] ?? ""
  return {
    programs: ast.idls.map((idl, index) =>
      createProgram(idl, addressOf(index), (type, uses) => report(`type ${idl.name}::${type}`, uses)),
    ),
    entities: ast.entities.map((entity) => compileEntity(ast, entity, addressOf, report)),
    unsupported: [...unsupported.values()],
  }
}

export type Plan = ReturnType<typeof compileStack>
