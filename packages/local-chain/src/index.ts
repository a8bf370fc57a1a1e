export { createLocalChain } from "./chain.ts"
export type { LocalChain } from "./chain.ts"
export { startLocalChain } from "./http.ts"
