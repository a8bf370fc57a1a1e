export { createLimiter } from "./limiter.ts"
export type { Limiter, LimiterDecision } from "./limiter.ts"
