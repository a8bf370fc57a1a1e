// Made by `pnpm openapi` from the services' OpenAPI documents.

/** A new agent. `api_key` is shown this once. */
export type SignUp = {
  /** The agent's generated name */
  readonly slug: string
  /** What people call the agent */
  readonly display_name: string
  /** Its secret key, shown only once */
  readonly api_key: string
  /** What happened, in a sentence */
  readonly message: string
  /** The key's id, for rotating or revoking it */
  readonly key_id: number
}

/** The agent that the key belongs to. */
export type Profile = {
  /** The agent's name */
  readonly slug: string
  /** What people call the agent */
  readonly display_name: string
  /** Its status */
  readonly status: "active" | "disabled"
  /** When it was made */
  readonly created_at: string
  /** When it last sent a request */
  readonly last_seen_at: string
}

/** An agent's keys, oldest first, never the keys themselves. */
export type Keys = readonly {
  /** Its number */
  readonly id: number
  /** Its name */
  readonly name: string
  /** `publishable` is for browser pages of one origin */
  readonly key_class: "secret" | "publishable"
  /** Its prefix and its last four characters */
  readonly key_hint: string
  /** The one origin of a publishable key; null for others */
  readonly origin_allowlist: readonly string[] | null
  /** Its status */
  readonly status: "active" | "disabled" | "expired"
  /** Whether this request used it */
  readonly current: boolean
  /** When it was made */
  readonly created_at: string
  /** When it ends; null for never */
  readonly expires_at: string | null
  /** null if it was never used */
  readonly last_used_at: string | null
  /** Its successor, if it was rotated */
  readonly replaced_by?: number
}[]

/** A new key. `key` is shown this once. */
export type MintedKey = {
  /** Its number */
  readonly id: number
  /** The whole key, shown only once */
  readonly key: string
  /** Its name */
  readonly name: string
  /** `publishable` is for browser pages of one origin */
  readonly key_class: "secret" | "publishable"
  /** The one origin of a publishable key; null for others */
  readonly origin_allowlist: readonly string[] | null
  /** When it ends; null for never */
  readonly expires_at: string | null
  /** What happened, in a sentence */
  readonly message: string
}

/** The key that takes another's place. `key` is shown this once. */
export type RotatedKey = {
  /** Its number */
  readonly id: number
  /** The whole key, shown only once */
  readonly key: string
  /** Its name */
  readonly name: string
  /** `publishable` is for browser pages of one origin */
  readonly key_class: "secret" | "publishable"
  /** The one origin of a publishable key; null for others */
  readonly origin_allowlist: readonly string[] | null
  /** When it ends; null for never */
  readonly expires_at: string | null
  /** What happened, in a sentence */
  readonly message: string
  /** The old key's id */
  readonly replaces: number
  /** When the old key expires */
  readonly old_expires_at: string
}

/** A key that is refused from now on. */
export type RevokedKey = {
  /** Its number */
  readonly id: number
  /** Always true */
  readonly revoked: true
  /** How many secret keys the account has left */
  readonly remaining_secret_keys: number
}

/** A session token; `expires_at` in Unix seconds. */
export type MintedSession = {
  /** A JWT, valid for 5 minutes */
  readonly token: string
  /** Unix seconds */
  readonly expires_at: number
  /** How to send it: `Authorization: Bearer` */
  readonly token_type: "Bearer"
  /** The granted scopes, separated by spaces */
  readonly scope: string
}

/** A stack and its schema. */
export type StackWithSchema = {
  /** Its name */
  readonly name: string
  /** What it is, in a sentence */
  readonly description: string | null
  /** The stream's address */
  readonly websocket_url: string
  /** Entities, views and types */
  readonly schema: StackSchema
}

/** A stack's AST. */
export type StackAst = {
  /** Its name */
  readonly name: string
  /** The stack's name */
  readonly stack: string
  /** What it is, in a sentence */
  readonly description: string | null
  /** The stream's address */
  readonly websocket_url: string
  /** Who sees it: everybody, whoever has a key, or the owner and named agents */
  readonly visibility: "public" | "global" | "private"
  /** SHA-256 of the AST in canonical form */
  readonly content_hash: string
  /** The AST */
  readonly ast_payload: {
    readonly [name: string]: unknown
  }
}

/** What a stack was, newest version first. */
export type StackVersions = readonly {
  /** The version's number */
  readonly version: number
  /** SHA-256 of the AST in canonical form */
  readonly content_hash: string
  /** When it was published */
  readonly published_at: string
  /** The effect on readers */
  readonly verdict: "none" | "compatible" | "breaking"
  /** The change by semantic versioning */
  readonly bump: "none" | "patch" | "minor" | "major"
  /** How many changes from the previous version */
  readonly changes: number
  /** What is new, for readers */
  readonly message?: string
  /** Whether readers get this version */
  readonly current: boolean
}[]

/** What publishing an AST would change. */
export type StackCheck = {
  /** The version that it was compared with; null if there is none */
  readonly version: number | null
  /** SHA-256 of the AST in canonical form */
  readonly content_hash: string
  /** The effect on readers */
  readonly verdict: "none" | "compatible" | "breaking"
  /** The change by semantic versioning */
  readonly bump: "none" | "patch" | "minor" | "major"
  /** Each change, breaking ones first */
  readonly changes: readonly {
    /** What kind of change it is */
    readonly kind: string
    /** The entity, field or view that changed */
    readonly path: string
    /** Value before the change */
    readonly before?: unknown
    /** Value after the change */
    readonly after?: unknown
    /** Whether readers of the older version break */
    readonly breaking: boolean
    /** The change in a sentence */
    readonly text: string
  }[]
  /** Entities, views and types */
  readonly schema: StackSchema
}

/** Changes of the registry, oldest first. */
export type RegistryChanges = {
  /** The changes, oldest first */
  readonly changes: readonly RegistryChange[]
  /** The id to pass as `after` next time */
  readonly next: number
}

/** A spec's schema. */
export type SpecSchema = {
  /** Its name */
  readonly name: string
  /** What it is, in a sentence */
  readonly description: string | null
  /** The stream's address */
  readonly websocket_url: string | null
  /** Entities, views and types */
  readonly schema: StackSchema
}

/** A spec's version after one was added. */
export type AddedVersion = {
  /** The number of the version with this content */
  readonly version: number
  /** Whether no earlier version of the spec has this content */
  readonly content_is_new: boolean
  /** Whether a version was added */
  readonly version_is_new: boolean
  /** Changes against the version before */
  readonly diff: Diff
  /** What is new, for readers */
  readonly message: string | null
}

/** A build and what happened to it. */
export type BuildWithEvents = Build & {
  /** What happened to it, oldest first */
  readonly events: readonly {
    /** Its number */
    readonly id: number
    /** What happened */
    readonly event_type: string
    /** What was being done */
    readonly phase: string | null
    /** Status before the event */
    readonly previous_status:
      | "pending"
      | "uploading"
      | "queued"
      | "building"
      | "pushing"
      | "deploying"
      | "completed"
      | "failed"
      | "cancelled"
      | null
    /** Status after the event */
    readonly new_status:
      | "pending"
      | "uploading"
      | "queued"
      | "building"
      | "pushing"
      | "deploying"
      | "completed"
      | "failed"
      | "cancelled"
      | null
    /** When it was made */
    readonly created_at: string
  }[]
}

/** What was begun with a deployment. */
export type DeploymentAction = {
  /** What happened, in a sentence */
  readonly message: string
  /** The deployment's number */
  readonly deployment_id: number
  /** Its status */
  readonly status: string
  /** The build's number */
  readonly build_id?: number
}

/** A deployment that is gone. */
export type DeletedDeployment = {
  /** What happened, in a sentence */
  readonly message: string
  /** The deployment's number */
  readonly deployment_id: number
  /** Its status */
  readonly status: string
  /** Its number */
  readonly id: number
  /** Always true */
  readonly deleted: true
}

/** A workflow run and its steps. */
export type RunWithSteps = Run & {
  /** What the run does, in order */
  readonly steps: readonly {
    /** The step's name */
    readonly name: string
    /** Its status */
    readonly status: "queued" | "running" | "succeeded" | "failed" | "skipped"
    /** When it started; null until then */
    readonly started_at: string | null
    /** When it ended; null until then */
    readonly completed_at: string | null
    /** Why the step failed */
    readonly error_message: string | null
  }[]
}

/** The state of the platform API. */
export type PlatformHealth = {
  /** Its status */
  readonly status: "ok" | "degraded"
  /** Version of the service */
  readonly version: string
  /** Whether the database responds */
  readonly database: "ok" | "unavailable"
  /** Where limits are counted: in a store shared by all replicas, or in each replica. */
  readonly limits: "shared" | "local"
}

/** What a new agent may choose. */
export type NewAgent = {
  /** The name shown to people, 1 to 64 visible characters. Default: derived from the slug */
  readonly display_name?: string | null | undefined
}

/** What a new key may have. */
export type NewKey = {
  /** The name in the key list, 1 to 64 visible characters */
  readonly name?: string | null | undefined
  /** When it expires. Default: never for a secret key, after a year for a publishable key */
  readonly expires_in_days?: number | null | undefined
  /** When it expires, in place of `expires_in_days` */
  readonly expires_at?: string | null | undefined
}

/** How to replace a key. */
export type Rotation = {
  /** The name in the key list, 1 to 64 visible characters. Default: the old key's name */
  readonly name?: string | null | undefined
  /** How long the old key stays valid; 0 ends it at once */
  readonly overlap_seconds?: number | null | undefined
}

/** What a session token is for. */
export type NewSession = {
  /** The websocket_url of the stream, from the registry */
  readonly websocket_url?: string | null | undefined
  /** The stack's name, in place of `websocket_url` */
  readonly stack?: string | null | undefined
  /** Scopes, separated by spaces */
  readonly scope?: string | null | undefined
  /** The scopes as an array, instead of `scope` */
  readonly scopes?: readonly string[] | null | undefined
}

/** A new spec. */
export type NewSpec = {
  /** The stack's name: lower-case letters, digits and dashes. `changes` is reserved */
  readonly name: string
  /** The AST: a stack file */
  readonly ast_payload?: Readonly<Record<string, unknown>> | null | undefined
  /** Its main entity. Default: the AST's first */
  readonly entity_name?: string | null | undefined
  /** A description for readers */
  readonly description?: string | null | undefined
  /** Where its stream is: a ws:// or wss:// URL */
  readonly websocket_url?: string | null | undefined
  /** Who can read it: everybody, everybody with a key, or you and those in shared_with */
  readonly visibility?: "public" | "global" | "private" | null | undefined
  /** Slugs of agents that can read it while it is private */
  readonly shared_with?: readonly string[] | null | undefined
}

/** What changes in a spec. */
export type SpecChanges = {
  /** The stack's name: lower-case letters, digits and dashes. `changes` is reserved */
  readonly name?: string | null | undefined
  /** A description for readers */
  readonly description?: string | null | undefined
  /** Where its stream is: a ws:// or wss:// URL */
  readonly websocket_url?: string | null | undefined
  /** Who can read it: everybody, everybody with a key, or you and those in shared_with */
  readonly visibility?: "public" | "global" | "private" | null | undefined
  /** Slugs of agents that can read it while it is private; null or [] for none */
  readonly shared_with?: readonly string[] | null | undefined
  /** Deprecates the stack; null ends the deprecation */
  readonly deprecated?:
    | {
        /** The message for readers */
        readonly message: string
        /** The stack to use instead */
        readonly successor?: string | null | undefined
      }
    | null
    | undefined
}

/** A new version of a spec. */
export type NewVersion = {
  /** The AST: a stack file */
  readonly ast_payload: Readonly<Record<string, unknown>>
  /** What is new, for readers */
  readonly message?: string | null | undefined
}

/** A new workflow run. */
export type NewRun = {
  /** The spec's id */
  readonly spec_id: number
  /** A version's `id`. Default: the latest */
  readonly spec_version_id?: number | null | undefined
  /** Builds even if the version breaks readers */
  readonly allow_breaking?: boolean | null | undefined
  /** The only workflow */
  readonly workflow: "publish"
  /** A new version's AST. Default: the latest version again */
  readonly ast_payload?: Readonly<Record<string, unknown>> | null | undefined
  /** Waits for a resume before it builds */
  readonly approval?: boolean | null | undefined
}

/** The version to go back to. */
export type Rollback = {
  /** The version's number. Default: the one deployed before */
  readonly to_version?: number | null | undefined
}

export type Stack = {
  /** Its name */
  readonly name: string
  /** What it is, in a sentence */
  readonly description: string | null
  /** The stream's address */
  readonly websocket_url: string
  /** Names of its entities */
  readonly entities: readonly string[]
  /** Who sees it: everybody, whoever has a key, or the owner and named agents */
  readonly visibility: "public" | "global" | "private"
  /** SHA-256 of the AST in canonical form */
  readonly content_hash: string
  /** When it last changed */
  readonly updated_at: string
  /** Number of the version that readers get */
  readonly version: number
  /** Whether session tokens for it can have the transaction scopes */
  readonly relay: boolean
  /** Set when readers should leave the stack */
  readonly deprecated?: {
    /** What readers should do */
    readonly message: string
    /** When it was deprecated */
    readonly since: string
    /** The stack to read instead */
    readonly successor?: string
  }
  /** Entities, views and types; only with `include=schema` */
  readonly schema?: StackSchema
}

export type StackSchema = {
  /** The stack's name */
  readonly stack_name: string
  /** Its entities, with their fields and views */
  readonly entities: readonly {
    /** The entity's name */
    readonly name: string
    /** Paths of fields */
    readonly primary_keys: readonly string[]
    /** Its fields */
    readonly fields: readonly {
      /** The path with its section: `id.address` */
      readonly path: string
      /** Its type in Rust */
      readonly rust_type: string
      /** Whether it may be null */
      readonly nullable: boolean
      /** The group that it is shown in */
      readonly section: string
    }[]
    /** Its views, which a client subscribes to */
    readonly views: readonly {
      /** `Entity/name`: what a client subscribes to */
      readonly id: string
      /** `list`: many records. `state`: one, or one for each key */
      readonly mode: "state" | "list"
      /** Whether a subscription must have a key. In other views, a key is optional */
      readonly needs_key: boolean
      /** The path of the field whose value is a record's key; null if several fields are */
      readonly key_field: string | null
      /** The order of its records; null: the last changed first */
      readonly sort: {
        /** The path of a field */
        readonly field: string
        /** Ascending or descending */
        readonly order: "asc" | "desc"
      } | null
      /** The steps that select and sort its records, in sequence */
      readonly pipeline: readonly unknown[]
    }[]
  }[]
  /** Types that the fields name */
  readonly types: readonly (
    | {
        /** The type's name */
        readonly name: string
        /** Whether it is a struct or an enum */
        readonly kind: "struct"
        /** Fields of a struct */
        readonly fields: readonly {
          /** The field's name */
          readonly name: string
          /** Its type */
          readonly type: string
        }[]
      }
    | {
        /** The type's name */
        readonly name: string
        /** Whether it is a struct or an enum */
        readonly kind: "enum"
        /** Values of an enum */
        readonly variants: readonly string[]
      }
  )[]
}

export type RegistryChange = {
  /** Ascends and never repeats */
  readonly id: number
  /** When it changed */
  readonly at: string
  /** The stack's name */
  readonly stack: string
  /** What happened to the stack */
  readonly kind: "published" | "rolled-back" | "deprecated" | "undeprecated" | "withdrawn" | "restored"
  /** The version that readers have since then */
  readonly version?: number
  /** The version served until then */
  readonly previous_version?: number
  /** The effect on readers */
  readonly verdict?: "none" | "compatible" | "breaking"
  /** The change by semantic versioning */
  readonly bump?: "none" | "patch" | "minor" | "major"
  /** The version's message, or why it is deprecated */
  readonly message?: string
  /** The stack to read instead */
  readonly successor?: string
}

export type Diff = {
  /** The older version */
  readonly from: number
  /** The newer version */
  readonly to: number
  /** The effect on readers */
  readonly verdict: "none" | "compatible" | "breaking"
  /** The change by semantic versioning */
  readonly bump: "none" | "patch" | "minor" | "major"
  /** Each change, breaking ones first */
  readonly changes: readonly {
    /** What kind of change it is */
    readonly kind: string
    /** The entity, field or view that changed */
    readonly path: string
    /** Value before the change */
    readonly before?: unknown
    /** Value after the change */
    readonly after?: unknown
    /** Whether readers of the older version break */
    readonly breaking: boolean
    /** The change in a sentence */
    readonly text: string
  }[]
}

export type Usage = {
  /** The first day, in UTC */
  readonly from: string
  /** Today, in UTC */
  readonly to: string
  /** Days with use, oldest first */
  readonly days: readonly {
    /** A day, in UTC */
    readonly date: string
    /** Public keys, the current one first */
    readonly keys: readonly {
      /** Its number */
      readonly id: number
      /** Its name */
      readonly name: string
      /** Requests with this key, except those that get 401, come from another origin or exceed the key's own rate limit */
      readonly requests: number
      /** Those that got 403 or 429 */
      readonly refused: number
      /** Session tokens that it minted */
      readonly sessions: number
    }[]
  }[]
}

export type Spec = {
  /** Its id */
  readonly id: number
  /** Its stack's name */
  readonly name: string
  /** Its main entity */
  readonly entity_name: string | null
  /** What it is, in a sentence */
  readonly description: string | null
  /** A name that no other spec ever has */
  readonly url_slug: string
  /** Where its stream is */
  readonly websocket_url: string | null
  /** 0 while it has no version */
  readonly latest_version: number
  /** When it was made */
  readonly created_at: string
  /** When it last changed */
  readonly updated_at: string
  /** Who sees it: everybody, whoever has a key, or the owner and named agents */
  readonly visibility: "public" | "global" | "private"
  /** Set when readers should leave the stack */
  readonly deprecated?: {
    /** What readers should do */
    readonly message: string
    /** When it was deprecated */
    readonly since: string
    /** The stack to read instead */
    readonly successor?: string
  }
  /** Agents' slugs, shown only to the owner */
  readonly shared_with?: readonly string[]
}

export type SpecVersion = {
  /** Its number */
  readonly id: number
  /** The spec that it belongs to */
  readonly spec_id: number
  /** Its number within the spec */
  readonly version_number: number
  /** SHA-256 of the AST in canonical form */
  readonly content_hash: string
  /** Name of the AST's state */
  readonly state_name: string
  /** Address of the Solana program that it reads */
  readonly program_id: string | null
  /** Handlers in the AST */
  readonly handler_count: number
  /** Groups of fields in the AST */
  readonly section_count: number
  /** When it was made */
  readonly created_at: string
  /** What is new, for readers */
  readonly message: string | null
}

export type Build = {
  /** Its id */
  readonly id: number
  /** The spec that is built */
  readonly spec_id: number
  /** The version that is built */
  readonly spec_version_id: number
  /** Where the build is in its life */
  readonly status:
    | "pending"
    | "uploading"
    | "queued"
    | "building"
    | "pushing"
    | "deploying"
    | "completed"
    | "failed"
    | "cancelled"
  /** The current phase */
  readonly phase: string | null
  /** In percent */
  readonly progress: number | null
  /** Why it failed */
  readonly status_message: string | null
  /** The stream that it deploys to; null until it is known */
  readonly websocket_url: string | null
  /** When it was made */
  readonly created_at: string
  /** When it started; null until then */
  readonly started_at: string | null
  /** When it ended; null until then */
  readonly completed_at: string | null
}

export type Deployment = {
  /** Its id */
  readonly id: number
  /** The spec that it serves */
  readonly spec_id: number
  /** Name of the spec */
  readonly spec_name: string
  /** Whether readers get the stack */
  readonly status: "active" | "updating" | "stopped" | "failed"
  /** Why it failed */
  readonly status_message: string | null
  /** The stream's address */
  readonly websocket_url: string
  /** The build that it serves */
  readonly current_build_id: number | null
  /** The version that it serves */
  readonly current_version: number | null
  /** When it first went live */
  readonly first_deployed_at: string | null
  /** When its latest build went live */
  readonly last_deployed_at: string | null
}

export type DeploymentEvent = {
  /** Its number */
  readonly id: number
  /** The deployment's number */
  readonly deployment_id: number
  /** What happened */
  readonly event_type: string
  /** Status before the event */
  readonly previous_status: "active" | "updating" | "stopped" | "failed" | null
  /** Status after the event */
  readonly new_status: "active" | "updating" | "stopped" | "failed" | null
  /** The build that caused the event */
  readonly build_id: number | null
  /** What happened, in a sentence */
  readonly message: string | null
  /** Who caused it: a user, or the platform itself */
  readonly actor: "user" | "system"
  /** When it was made */
  readonly created_at: string
}

export type Run = {
  /** Its id */
  readonly id: number
  /** The workflow's name */
  readonly workflow: string
  /** Where the run is in its life */
  readonly status: "queued" | "running" | "waiting" | "cancelling" | "succeeded" | "failed" | "cancelled"
  /** What started it */
  readonly trigger: "manual" | "schedule" | "event"
  /** The published spec */
  readonly spec_id: number
  /** The deployment it made */
  readonly deployment_id: number | null
  /** 2 for the first retry */
  readonly attempt: number
  /** The run that this one retries */
  readonly retry_of_id: number | null
  /** Why it failed, as a code */
  readonly error_code: string | null
  /** The reason in words */
  readonly error_message: string | null
  /** When it was made */
  readonly created_at: string
  /** When it started; null until then */
  readonly started_at: string | null
  /** When it ended; null until then */
  readonly completed_at: string | null
}

/** The state of the relay. */
export type RelayHealth = {
  /** Its status */
  readonly status: "ok"
  /** Version of the service */
  readonly version: string
  /** Where the limits are counted: in a store for all replicas, or in each replica. */
  readonly limits: "shared" | "local"
  /** State of the transaction routes */
  readonly transactions: {
    /** Whether the transaction routes are on */
    readonly enabled: boolean
    /** With fallbacks for reads: the provider that responded last. */
    readonly answering?: string
    /** With `chain=true`: the provider's chain, if it is known. */
    readonly chain?: {
      /** The chain's genesis hash, base58. */
      readonly genesis_hash: string
      /** The name of a public network: mainnet, devnet, testnet. */
      readonly network?: string
      /** For a chain on this machine: the URL where `requestAirdrop` gives test funds. */
      readonly faucet?: string
    }
  }
}

/** The state of the documentation server. */
export type DocsHealth = {
  /** Its status */
  readonly status: "ok"
  /** Version of the service */
  readonly version: string
  /** How many pages are served */
  readonly pages: number
}

/** The skill files of the documentation server. */
export type SkillIndex = {
  /** Schema of this index */
  readonly $schema: string
  /** The skill files */
  readonly skills: readonly {
    /** Its name */
    readonly name: string
    /** Kind of the entry */
    readonly type: string
    /** When to use the skill */
    readonly description: string
    /** Address of the file */
    readonly url: string
    /** SHA-256 of the file */
    readonly digest: string
  }[]
}

export type SearchDocsArguments = {
  /** Words to look for, 1 to 500 characters. */
  readonly query: string
  /** Results in one response. */
  readonly limit?: number
  /** next_cursor of the previous response, for further results. */
  readonly cursor?: string
}

export type SearchDocsResult = {
  /** The query, as sent */
  readonly query: string
  /** The best section of each page, best first */
  readonly results: readonly {
    /** The page, for fetch_page. */
    readonly slug: string
    /** The page's title */
    readonly title: string
    /** Heading of the section that fits best. */
    readonly section: string
    /** That section, for fetch_page; empty for text above the first heading. */
    readonly anchor: string
    /** Address of the section */
    readonly url: string
    /** The lines that fit the query */
    readonly snippet: string
    /** Only for the order. */
    readonly score: number
  }[]
  /** Relevant pages, further ones included. */
  readonly total: number
  /** Pass it as `cursor` to get further results */
  readonly next_cursor?: string
  /** The query with its unknown words corrected. */
  readonly did_you_mean?: string
  /** What to try, if nothing was found. */
  readonly hint?: string
}

export type FetchPageArguments = {
  /** The page's slug, path or URL, with #anchor or without. */
  readonly slug: string
  /** Anchor or heading of one section. */
  readonly section?: string
  /** next_cursor of the previous response, for the next part. */
  readonly cursor?: string
  /** Most tokens in one response, at 4 characters a token; 20000 at most. */
  readonly max_tokens?: number
  /** Whether to list the page's sections. */
  readonly sections?: boolean
}

export type FetchPageResult = {
  /** The page's path without its ending */
  readonly slug: string
  /** The page's title */
  readonly title: string
  /** Address of the page or section */
  readonly url: string
  /** Anchor of the section, when one was asked for. */
  readonly section?: string
  /** Markdown. The parts of a page joined by nothing are the page. */
  readonly content: string
  /** Whether there is a next part. */
  readonly truncated: boolean
  /** Pass it as `cursor` to get the next part */
  readonly next_cursor?: string
  /** The page's sections, 500 at most: when asked for, or when content is truncated. */
  readonly sections?: readonly {
    /** Pass it to fetch_page as `section` */
    readonly anchor: string
    /** The section's heading */
    readonly heading: string
    /** Tokens that fetching it costs. */
    readonly tokens: number
  }[]
  /** Changes with the page's text; the page's ETag over HTTP. */
  readonly etag: string
}
