// What the last release had of what callers and operators rely on: operations with their required fields, settings with
// their defaults, commands with their options. `pnpm bump` writes it; released.test.ts compares today's with it.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { commands } from "../apps/cli/src/commands.ts"
import { z } from "zod"

const root = join(import.meta.dirname, "..")
const file = join(root, "scripts/released.json")
const apps = ["docs-server", "relay", "platform-api"] as const

const surfaceSchema = z.object({
  version: z.string(),
  /** By service, method and path: the request's required fields and parameters. */
  operations: z.record(z.string(), z.array(z.string())),
  /** By service and variable: the default, empty for none. */
  settings: z.record(z.string(), z.string()),
  /** By command: its options. */
  commands: z.record(z.string(), z.array(z.string())),
})

/** What callers and operators rely on. */
export type Surface = z.infer<typeof surfaceSchema>

const operationSchema = z.looseObject({
  parameters: z.array(z.looseObject({ name: z.string(), required: z.boolean().optional() })).default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })) }).optional(),
})
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()).default({}) }).default({ schemas: {} }),
})
const bodySchema = z.looseObject({ required: z.array(z.string()).default([]), $ref: z.string().optional() })

const read = (path: string): string => readFileSync(join(root, path), "utf8")

const operationsOf = (app: string): [string, string[]][] => {
  const { paths, components } = documentSchema.parse(JSON.parse(read(`apps/${app}/openapi.json`)))
  const required = (schema: unknown): string[] => {
    const { required: names, $ref } = bodySchema.parse(schema ?? {})
    return $ref === undefined ? names : required(components.schemas[$ref.split("/").at(-1) ?? ""])
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters, requestBody }]) => {
      const names = parameters.flatMap((one) => (one.required === true ? [one.name] : []))
      const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => required(schema))
      return [`${app} ${method.toUpperCase()} ${path}`, [...new Set([...names, ...bodies])].toSorted()]
    }),
  )
}

// The example files have every setting, commented out with its default; a test compares them with the code.
const settingsOf = (app: string): [string, string][] =>
  [...read(`infra/env/${app}.env.example`).matchAll(/^#([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [
    `${app} ${name}`,
    value,
  ])

/** What this tree has. */
export const currentSurface = (): Surface => ({
  version: z.object({ version: z.string() }).parse(JSON.parse(read("apps/platform-api/package.json"))).version,
  operations: Object.fromEntries(apps.flatMap(operationsOf)),
  settings: Object.fromEntries(apps.flatMap(settingsOf)),
  commands: Object.fromEntries(commands.map(({ name, options = [] }) => [name, [...options].toSorted()])),
})

/** What the last release had. */
export const releasedSurface = (): Surface => surfaceSchema.parse(JSON.parse(readFileSync(file, "utf8")))

/** Makes this tree's surface the released one. */
export const writeReleased = (): void => writeFileSync(file, `${JSON.stringify(currentSurface(), null, 2)}\n`)

/** Operations and required fields that are new. */
export const additions = (before: Surface["operations"], now: Surface["operations"]): string[] =>
  Object.entries(now).flatMap(([operation, fields]) => {
    const known = before[operation]
    if (known === undefined) return [operation]
    return fields.filter((field) => !known.includes(field)).map((field) => `${operation} requires ${field}`)
  })

const difference = <Value>(before: Record<string, Value>, now: Record<string, Value>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]),
  )

/** The words by which a changelog has to name what differs: a path, a variable, a command or an option. */
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
