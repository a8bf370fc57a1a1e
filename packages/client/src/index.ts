// The platform's responses: the generator names them.
export type * from "./generated/answers.ts"
export type { Clock } from "./clock.ts"
export { SvcError } from "./error.ts"
export type { SubmissionState } from "./error.ts"
export { indexedDbStore } from "./indexed-db-store.ts"
export { createJournal } from "./journal.ts"
export type { Journal, JournalOptions, SettleAllOptions, Settlement, SubmitOnceOptions } from "./journal.ts"
export type { Outcome, Step } from "./judge.ts"
export type { PaymentFacts } from "./payment.ts"
export { createPlatform } from "./platform.ts"
export type { FollowOptions, NewKey, Page, Platform, PlatformOptions, Rotation } from "./platform.ts"
export type { BuildPayment } from "./prepare.ts"
export { createRelay } from "./relay.ts"
export type {
  Abortable,
  ChainView,
  Commitment,
  Relay,
  RelayOptions,
  SendOptions,
  SimulateOptions,
  Transaction,
} from "./relay.ts"
export type { Account, ChainError, Simulation, Status } from "./relay-answers.ts"
export { createSession } from "./session.ts"
export type { Session, SessionOptions, TokenSource } from "./session.ts"
export { memoryStore } from "./store.ts"
export type { DamagedRecord, ForgottenRecord, PaymentRecord, Store, StoredRecord } from "./store.ts"
export type { PaymentOutcome } from "./settle-record.ts"
export { createStream } from "./stream.ts"
export type { Stream, StreamOptions } from "./stream.ts"
export type { WatchOptions, Watched } from "./stream-watch.ts"
export type { Change } from "./stream-records.ts"
export type { WebSocketClass } from "./stream-socket.ts"
export { settle, signatureOf, submit } from "./submit.ts"
export type { SettleOptions, SubmitOptions } from "./submit.ts"
export { createRelayTransport } from "./transport.ts"
export type { RelayTransport } from "./transport.ts"
