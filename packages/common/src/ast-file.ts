import type { JsonObject } from "./json-object.ts"

/** What keeps a JSON object from being a stack's AST, for a sentence about its file; undefined for nothing that is seen at once. */
export const astFault = (object: JsonObject): string | undefined => {
  const missing = ["stack_name", "entities"].filter((member) => !Object.hasOwn(object, member))
  return missing.length === 0 ? undefined : `isn't an AST: it has no ${missing.join(" and no ")}`
}
