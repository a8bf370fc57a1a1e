export { defaultBounds } from "./connections/bounds.ts"
export type { Bounds } from "./connections/bounds.ts"
export { hasWholeBody, jsonTypeFault, readBody, readJson } from "./requests/body.ts"
export type { JsonBodyOptions } from "./requests/body.ts"
export { addressBucket } from "./client-address.ts"
export type { TrustedNetwork } from "./client-address.ts"
export { parseJson } from "./requests/json.ts"
export { createLogger } from "./logs/logger.ts"
export type { Logger, LogLevel } from "./logs/logger.ts"
export { jsonBody } from "./requests/json-body.ts"
export { requestContext } from "./request-context.ts"
export type { HttpEnv } from "./request-context.ts"
export { allowedMethods } from "./allowed-methods.ts"
export { acceptsGzip, acceptWeights, matchesETag, wantsEventStream } from "./requests/negotiate.ts"
export {
  clientAddress,
  omitServerHeaders,
  requestHeader,
  requestIdOf,
  routed,
  sentPath,
  setAccount,
  setHeader,
} from "./exchange.ts"
export type { Exchange, Served, ServedEnv } from "./exchange.ts"
export { processRuntime, runService } from "./run-service.ts"
export type { Runtime } from "./run-service.ts"
export { serve } from "./serve.ts"
export type { Fetch, RunningServer, ServeOptions } from "./serve.ts"
export { serviceFields } from "./service-fields.ts"
