export { createLocalChain } from "./chain.ts"
export { startLocalChain } from "./http.ts"
