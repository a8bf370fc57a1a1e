// The baseline: what callers and operators rely on in this version, which is operations with their required and response
// fields, settings with their defaults, commands with their options, and what else compatibility.md promises by name.
// `pnpm bump` writes it; released.test.ts compares the tree with it.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as client from "@svc/client"
import { sessionClaims, sessionScopes } from "../packages/session-token/src/claims.ts"
import { commands } from "../apps/cli/src/commands.ts"
import { exits } from "../apps/cli/src/usage/help.ts"
import { errors as docsErrors } from "../apps/docs-server/src/errors.ts"
import { errors as platformErrors } from "../apps/platform-api/src/errors.ts"
import { errors as relayErrors } from "../apps/relay/src/errors.ts"
import manifest from "../apps/platform-api/package.json" with { type: "json" }
import type { ErrorRow } from "../packages/errors/src/errors.ts"
import type { OpenApi, Schema } from "../packages/client/scripts/answer-types.ts"

const root = join(import.meta.dirname, "..")
const file = join(root, "scripts/released.json")
const apps = ["docs-server", "relay", "platform-api"] as const

type Names = Readonly<Record<string, readonly string[]>>

/** What callers and operators rely on. */
export type Surface = {
  readonly version: string
  /** By service, method and path: the request's required fields and parameters. */
  readonly operations: Names
  /** By service, method and path: the fields of a successful response, each with its types. */
  readonly responses: Names
  /** By service, method and path: who may call it. */
  readonly callers: Names
  /** The error codes with their statuses, and what else keeps its names. */
  readonly names: Names
  /** By service and variable: the default, empty for none. */
  readonly settings: Readonly<Record<string, string>>
  /** By command: its options. */
  readonly commands: Names
}

const read = (path: string): string => readFileSync(join(root, path), "utf8")

const sorted = (names: readonly string[]): string[] => [...new Set(names)].toSorted()

const operationsOf = (app: string) => {
  const { paths, components }: OpenApi = JSON.parse(read(`apps/${app}/openapi.json`))
  const named = ($ref: string): Schema | undefined => components.schemas[$ref.split("/").at(-1) ?? ""]
  const required = ({ required: names = [], $ref }: Schema = {}): readonly string[] =>
    $ref === undefined ? names : required(named($ref))
  const typesOf = ({ $ref, type = [], anyOf = [], oneOf = [] }: Schema = {}): string[] =>
    $ref === undefined ? sorted([type, ...[...anyOf, ...oneOf].map(typesOf)].flat()) : typesOf(named($ref))
  // A schema that refers to itself is read once.
  const fields = (schema: Schema = {}, before = "", within: readonly string[] = []): readonly string[] => {
    const { $ref, properties = {}, items, anyOf = [], oneOf = [] } = schema
    if ($ref !== undefined) return within.includes($ref) ? [] : fields(named($ref), before, [...within, $ref])
    const names = Object.entries(properties).map(([name, value]) => [before + name, ...typesOf(value)].join(" "))
    const below = Object.entries(properties).flatMap(([name, value]) => fields(value, `${before}${name}.`, within))
    const others = [...(items === undefined ? [] : [items]), ...anyOf, ...oneOf]
    return [...names, ...below, ...others.flatMap((one) => fields(one, before, within))]
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const { parameters = [], requestBody, responses } = operation
      const { callers } = Object(operation)["x-access"] as { readonly callers: readonly string[] }
      const names = parameters.flatMap((one) => (one.required === true ? [one.name] : []))
      const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => required(schema))
      const answers = Object.entries(responses).flatMap(([status, { content = {} }]) =>
        status.startsWith("2") ? Object.values(content).flatMap(({ schema }) => fields(schema)) : [],
      )
      const key = `${app} ${method.toUpperCase()} ${path}`
      return { key, requires: sorted([...names, ...bodies]), returns: sorted(answers), callers: sorted(callers) }
    }),
  )
}

const codesOf = ({ rows }: { readonly rows: Readonly<Record<string, ErrorRow>> }): string[] =>
  sorted(
    Object.entries(rows).map(
      ([code, { status, retryable = false }]) => `${code} ${status}${retryable ? " retryable" : ""}`,
    ),
  )

const names: Names = {
  "errors of docs-server": codesOf(docsErrors),
  "errors of relay": codesOf(relayErrors),
  "errors of platform-api": codesOf(platformErrors),
  "scopes of session tokens": sorted(sessionScopes),
  "claims of session tokens": sorted(Object.keys(sessionClaims.shape)),
  "exit codes of svc": exits.map(([code]) => code),
  "exports of svc-client": sorted(Object.keys(client)),
}

// The example files have every setting, commented out with its default; a test compares them with the code.
const settingsOf = (app: string): [string, string][] =>
  [...read(`infra/env/${app}.env.example`).matchAll(/^#([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [
    `${app} ${name}`,
    value,
  ])

export const currentSurface = (): Surface => {
  const operations = apps.flatMap(operationsOf)
  return {
    version: manifest.version,
    operations: Object.fromEntries(operations.map(({ key, requires }) => [key, requires])),
    responses: Object.fromEntries(operations.map(({ key, returns }) => [key, returns])),
    callers: Object.fromEntries(operations.map(({ key, callers }) => [key, callers])),
    names,
    settings: Object.fromEntries(apps.flatMap(settingsOf)),
    commands: Object.fromEntries(commands.map(({ name, options = [] }) => [name, [...options].toSorted()])),
  }
}

export const releasedSurface = (): Surface => JSON.parse(readFileSync(file, "utf8"))

export const writeReleased = (): void => writeFileSync(file, `${JSON.stringify(currentSurface(), null, 2)}\n`)

/** What was removed of the operations, response fields, callers or names. */
export const removals = (before: Names, now: Names): string[] =>
  Object.entries(before).flatMap(([of, kept]) => {
    const left = now[of]
    if (left === undefined) return [of]
    return kept.filter((name) => !left.includes(name)).map((name) => `${of}: ${name}`)
  })

/** Operations and required fields that are new. */
export const additions = (before: Surface["operations"], now: Surface["operations"]): string[] =>
  Object.entries(now).flatMap(([operation, fields]) => {
    const known = before[operation]
    if (known === undefined) return [operation]
    return fields.filter((field) => !known.includes(field)).map((field) => `${operation} requires ${field}`)
  })

const difference = <Value>(before: Readonly<Record<string, Value>>, now: Readonly<Record<string, Value>>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]),
  )

/** The names of differences that the changelog must contain: a path, a variable, a command or an option. */
export const changedNames = (before: Surface, now: Surface): string[] => {
  const paths = difference(before.operations, now.operations).map((key) => key.split(" ").at(-1) ?? key)
  const settings = difference(before.settings, now.settings).map((key) => key.split(" ").at(-1) ?? key)
  const options = difference(before.commands, now.commands).flatMap((name) => {
    const [old, own] = [before.commands[name], now.commands[name]]
    if (old === undefined || own === undefined) return [`svc ${name}`]
    return [...old.filter((one) => !own.includes(one)), ...own.filter((one) => !old.includes(one))].map(
      (one) => `--${one}`,
    )
  })
  return [...new Set([...paths, ...settings, ...options])]
}
