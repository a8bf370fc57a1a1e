import { integer, loadConfig } from "@svc/config"

/** What slow and hostile clients may cost a server, each and all together. */
export type Bounds = {
  /** Connections open at once. One more closes the oldest idle one. */
  readonly connections: number
  /** Pipelined requests that wait for the answers before theirs, in all. One more cuts off the client with most of them. */
  readonly waitingRequests: number
  /** Bytes held in all: answers that their clients don't take, bodies that aren't whole. More cut off whoever is slow longest. */
  readonly heldBytes: number
  /** A client has this many milliseconds to take an answer, and more by the size of what is left: */
  readonly answerMs: number
  readonly bytesPerSecond: number
}

/** The settings that bounds are read from: for every service the same. */
export const boundFields = {
  connections: integer("SVC_HTTP_MAX_CONNECTIONS", 4096, { min: 1, max: 1_000_000 }),
  waitingRequests: integer("SVC_HTTP_MAX_WAITING_REQUESTS", 8192, { min: 0, max: 10_000_000 }),
  heldBytes: integer("SVC_HTTP_MAX_HELD_BYTES", 33_554_432, { min: 65_536 }),
  answerMs: integer("SVC_HTTP_ANSWER_TIMEOUT_MS", 20_000, { min: 1, max: 3_600_000 }),
  bytesPerSecond: integer("SVC_HTTP_MIN_BYTES_PER_SECOND", 8192, { min: 1 }),
}

/** The bounds where nothing is set. */
export const defaultBounds: Bounds = loadConfig(boundFields, {})
