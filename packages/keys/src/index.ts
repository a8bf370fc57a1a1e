export { hashKey, hasTag, keyHint, mintKey, recogniseKey } from "./keys.ts"
export type { KeyKind } from "./keys.ts"
