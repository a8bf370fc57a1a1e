import { integer, loadConfig } from "@svc/config"

/** What slow and hostile clients may cost a server. Whoever holds most gives way first. */
export type Bounds = {
  /** Connections open at once. For one more, the client with most of them loses one that serves no request. */
  readonly connections: number
  /** Pipelined requests that wait for the response before theirs. For one more, the client with most of them is cut off. */
  readonly waitingRequests: number
  /** Bytes of unfinished bodies and of responses that clients don't take. For more, the client that holds most is cut off. */
  readonly heldBytes: number
  /** A client has this many milliseconds to take a response, and more by the size of what is left: */
  readonly answerMs: number
  readonly bytesPerSecond: number
}

/** The settings of these bounds, the same for every service. */
export const boundFields = {
  connections: integer("SVC_HTTP_MAX_CONNECTIONS", 4096, { min: 1, max: 1_000_000 }),
  waitingRequests: integer("SVC_HTTP_MAX_WAITING_REQUESTS", 8192, { min: 0, max: 10_000_000 }),
  heldBytes: integer("SVC_HTTP_MAX_HELD_BYTES", 33_554_432, { min: 65_536 }),
  answerMs: integer("SVC_HTTP_ANSWER_TIMEOUT_MS", 20_000, { min: 1, max: 3_600_000 }),
  bytesPerSecond: integer("SVC_HTTP_MIN_BYTES_PER_SECOND", 8192, { min: 1 }),
}

/** The bounds where nothing is set. */
export const defaultBounds: Bounds = loadConfig(boundFields, {})
