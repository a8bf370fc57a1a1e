import type { Ast } from "../ast/ast-shape.ts"
import { checkSchemaSize } from "./derived-size.ts"
import { deriveShape, type Schema, schemaOf, type Shape } from "./derive-schema.ts"
import { AstTooLarge } from "../ast/document-fault.ts"
import { modelOf } from "../types/model.ts"
import { languages, moduleOf } from "../types/typed-module.ts"

// Four for each element that an AST may have. A real AST of 2 MiB takes a tenth of them.
const maxSteps = 1_000_000
// Longer than any name and version, so that the modules fit under every name.
const longestName = { name: "x".repeat(128), version: 2_147_483_647 }

/** Everything derived from an AST. The modules are generated once to check their size. Throws AstTooLarge. */
export const checkDerived = (ast: Ast): { readonly shape: Shape; readonly schema: Schema } => {
  let steps = 0
  const shape = deriveShape(ast, (more) => {
    if ((steps += more) > maxSteps) throw new AstTooLarge(["idls"], "takes too much work")
  })
  const schema = schemaOf(shape)
  checkSchemaSize(schema, shape)
  const model = modelOf(shape)
  for (const language of languages) moduleOf(model, language, longestName)
  return { shape, schema }
}
