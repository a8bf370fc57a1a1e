export { hashKey, hasTag, keyHint, mintKey, prefixKind, recogniseKey, withoutKeys } from "./keys.ts"
