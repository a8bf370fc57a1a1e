import type { Logger, Runtime } from "@svc/program"
import type { Limits } from "@svc/limits"
import type { SigningKeys } from "@svc/session-token"
import type { LRUCache } from "lru-cache"
import type { KeyMaterial } from "./auth/accounts.ts"
import type { FindKey } from "./auth/find-key.ts"
import type { KeyWatch } from "./auth/key-watch.ts"
import type { UsageCounter } from "./auth/usage.ts"
import type { UseTracker } from "./auth/use-tracker.ts"
import type { Compiler } from "./compiler/compiler.ts"
import type { Settings } from "./config.ts"
import type { Database } from "./db/database.ts"
import type { AstLinks } from "./registry/ast-links.ts"
import type { Metrics } from "./metrics.ts"
import type { ChangeFeed } from "./registry/changes.ts"
import type { Registry } from "./registry/registry.ts"
import type { StackVersions } from "./registry/stack-versions.ts"
import type { EventStreams } from "@svc/http"

/** What routes work with, created once at the start. */
export type Dependencies = KeyMaterial &
  Pick<Runtime, "wallClock" | "now" | "randomId"> & {
    readonly version: string
    readonly config: Settings
    /** The service's own URL, for its OpenAPI document. */
    readonly publicUrl: string
    readonly database: Database
    readonly findKey: FindKey
    readonly registry: Registry
    readonly versions: StackVersions
    readonly compiler: Compiler
    readonly changes: ChangeFeed
    readonly keyWatch: KeyWatch
    /** Signed links to ASTs for the deploy hook; undefined without a hook. */
    readonly astLinks: AstLinks | undefined
    readonly streams: EventStreams
    /** Whether the database responds within a second. */
    readonly databaseResponds: () => Promise<boolean>
    /** Addresses that have used up their sign-ups, until they may sign up again. They are rejected without a query. */
    readonly exhausted: LRUCache<string, true>
    /** The accounts of keys that have used up a limit lately, for the log: such keys are rejected without a query. */
    readonly overLimit: LRUCache<string, string>
    readonly signingKeys: SigningKeys
    readonly limits: Limits
    readonly useTracker: UseTracker
    readonly usage: UsageCounter
    readonly log: Logger
    readonly metrics: Metrics
  }
