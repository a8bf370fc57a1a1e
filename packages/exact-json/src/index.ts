export { parseExactly, writeExactly } from "./exact-json.ts"
export { duplicateKey, hasMoreValues, isDeeper } from "./json-text.ts"
