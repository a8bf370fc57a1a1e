import type { Shape } from "../schema/derive-schema.ts"
import { checkModuleSize } from "../schema/derived-size.ts"
import { jsonSchemaModule } from "./json-schema.ts"
import { type Model, modelOf } from "./model.ts"
import { pythonModule } from "./python.ts"
import { typescriptModule } from "./typescript.ts"
import { weigh } from "./weigh.ts"

export const languages = ["typescript", "python", "json-schema"] as const
export type Language = (typeof languages)[number]

export const mediaTypes: Readonly<Record<Language, string>> = {
  typescript: "text/typescript; charset=utf-8",
  python: "text/x-python; charset=utf-8",
  "json-schema": "application/schema+json",
}

const writers: Readonly<Record<Language, (model: Model, heading: readonly string[]) => string>> = {
  typescript: typescriptModule,
  python: pythonModule,
  "json-schema": jsonSchemaModule,
}

/**
 * A module for programs to import: a type per entity and per type of the stack, and the ids of views. The same shape
 * gives the same bytes. The stack's author chooses the names, so they appear only as quoted text or as ASCII
 * identifiers, never in comments. Throws AstTooLarge.
 * @param stack the registry's name and the version's number
 */
export const typedModule = (shape: Shape, language: Language, stack: { name: string; version: number }): string => {
  const heading = [
    `Stack ${stack.name}, version ${stack.version}: types made from its schema by the registry.`,
    "u64, i64 and wider integers are strings of digits: a JSON number that large is rounded by most readers.",
    "A variant added to an enum counts as compatible: keep a branch for ones that are not listed here.",
  ]
  const model = modelOf(shape)
  weigh(model, language, (length, at) => checkModuleSize(length, at, language))
  const module = writers[language](model, heading)
  checkModuleSize(Buffer.byteLength(module), ["entities"], language)
  return module
}
