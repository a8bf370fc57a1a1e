import { cidrs, flag, integer, oneOf, text } from "@svc/config"
import { boundFields } from "./connections/bounds.ts"

/** The settings that every service has; only the port differs. */
export const serviceFields = (port: number) => ({
  host: text("HOST", "127.0.0.1"),
  port: integer("PORT", port, { min: 0, max: 65_535 }),
  logLevel: oneOf("SVC_LOG_LEVEL", "info", ["debug", "info", "warn", "error", "silent"]),
  trustedProxies: cidrs("SVC_TRUSTED_PROXY_CIDRS"),
  bounds: boundFields,
  telemetry: flag("SVC_OTEL_ENABLED", false),
})
