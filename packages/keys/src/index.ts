export {
  hashKey,
  hasKey,
  hasTag,
  keyHint,
  keyPrefixes,
  mintKey,
  prefixKind,
  recogniseKey,
  withoutKeys,
} from "./keys.ts"
