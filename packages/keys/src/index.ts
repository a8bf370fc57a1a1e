export { hashKey, hasTag, keyHint, mintKey, recogniseKey } from "./keys.ts"
