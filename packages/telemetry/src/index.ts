export { observeLimits } from "./limits.ts"
export { carriedSpan, clientSpan, createWaiters, outsideRequests } from "./spans.ts"
export type { Fail } from "./spans.ts"
export { startTelemetry } from "./start.ts"
