import { cidrs, flag, integer, loadConfig, oneOf, text } from "@svc/config"

// What slow and hostile clients may cost a server. Whoever holds most gives way first.
const bounds = {
  /** Connections open at once. For one more, the client with most of them loses one that isn't being served. */
  connections: integer("SVC_HTTP_MAX_CONNECTIONS", 4096, { min: 1, max: 1_000_000 }),
  /** Bytes of unfinished bodies, waiting requests and responses that clients don't take. For more, whoever holds most is cut off. */
  heldBytes: integer("SVC_HTTP_MAX_HELD_BYTES", 33_554_432, { min: 65_536 }),
  /** A client has this many milliseconds to take a response, and more by the size of what is left. */
  answerMs: integer("SVC_HTTP_ANSWER_TIMEOUT_MS", 20_000, { min: 1, max: 3_600_000 }),
  bytesPerSecond: integer("SVC_HTTP_MIN_BYTES_PER_SECOND", 8192, { min: 1 }),
}

/** The bounds where nothing is set. */
export const defaultBounds = loadConfig(bounds, {})
export type Bounds = typeof defaultBounds

/** The settings that every service has; only the port differs. */
export const serviceFields = (port: number) => ({
  host: text("HOST", "127.0.0.1"),
  port: integer("PORT", port, { min: 0, max: 65_535 }),
  probePort: integer("SVC_PROBE_PORT", undefined, { min: 1, max: 65_535 }),
  logLevel: oneOf("SVC_LOG_LEVEL", "info", ["debug", "info", "warn", "error", "silent"]),
  trustedProxies: cidrs("SVC_TRUSTED_PROXY_CIDRS"),
  bounds,
  telemetry: flag("SVC_OTEL_ENABLED", false),
})
