export { observeRequests } from "./requests.ts"
export { carriedSpan, clientSpan, createAskers, ofNobody } from "./spans.ts"
export { startTelemetry } from "./start.ts"
export type { Telemetry, TelemetryOptions } from "./start.ts"
