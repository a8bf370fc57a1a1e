// The platform's requests and responses: the generator names them.
export type * from "./generated/answers.ts"
export type { Clock } from "./http/clock.ts"
export { SvcError } from "./http/error.ts"
export type { SubmissionState } from "./http/error.ts"
export { indexedDbStore } from "./journal/indexed-db-store.ts"
export { createJournal } from "./journal/journal.ts"
export type { Journal, JournalOptions, SettleAllOptions, Settlement, SubmitOnceOptions } from "./journal/journal.ts"
export type { Outcome, Step } from "./submit/judge.ts"
export type { PaymentFacts } from "./journal/payment.ts"
export { createPlatform } from "./platform/platform.ts"
export type { FollowOptions, Page, Platform, PlatformOptions } from "./platform/platform.ts"
export type { BuildPayment } from "./journal/prepare.ts"
export { createRelay } from "./relay/relay.ts"
export type {
  Abortable,
  ChainView,
  Commitment,
  Relay,
  RelayOptions,
  SendOptions,
  SimulateOptions,
  Transaction,
} from "./relay/relay.ts"
export type { Account, ChainError, Simulation, Status } from "./relay/relay-answers.ts"
export { createSession } from "./platform/session.ts"
export type { Session, SessionOptions, TokenSource } from "./platform/session.ts"
export { memoryStore } from "./journal/store.ts"
export type { DamagedRecord, ForgottenRecord, PaymentRecord, Store, StoredRecord } from "./journal/store.ts"
export type { PaymentOutcome } from "./journal/settle-record.ts"
export type { ConnectionState } from "./stream/connection-state.ts"
export { createStream } from "./stream/stream.ts"
export type { Stream, StreamOptions } from "./stream/stream.ts"
export type { WatchOptions, Watched } from "./stream/stream-watch.ts"
export type { Condition } from "./stream/where.ts"
export type { Change } from "./stream/stream-records.ts"
export type { WebSocketClass } from "./stream/stream-socket.ts"
export { settle, signatureOf, submit } from "./submit/submit.ts"
export type { SettleOptions, SubmitOptions } from "./submit/submit.ts"
export { createRelayTransport } from "./relay/transport.ts"
export type { RelayTransport } from "./relay/transport.ts"
