export { hashKey, hasKey, hasTag, keyHint, mintKey, prefixKind, recogniseKey, withoutKeys } from "./keys.ts"
