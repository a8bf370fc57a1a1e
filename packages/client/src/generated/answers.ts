// Made by `pnpm openapi` from the platform's OpenAPI document.

/** A new agent. `api_key` is shown this once. */
export type SignUp = {
  /** The agent's name, made for it */
  readonly slug: string
  readonly display_name: string
  /** Its secret key, shown this once */
  readonly api_key: string
  readonly message: string
  /** The key's number, to rotate or revoke it */
  readonly key_id: number
}

/** The agent that the key belongs to. */
export type Profile = {
  readonly slug: string
  readonly display_name: string
  readonly status: "active" | "disabled"
  readonly created_at: string
  readonly last_seen_at: string
}

/** An agent's keys, oldest first, never the keys themselves. */
export type Keys = readonly {
  readonly id: number
  readonly name: string
  /** `publishable` is for pages in a browser, from one origin */
  readonly key_class: "secret" | "publishable"
  /** Its prefix and its last four characters */
  readonly key_hint: string
  readonly origin_allowlist: readonly string[] | null
  readonly status: "active" | "disabled" | "expired"
  /** Whether this request came with it */
  readonly current: boolean
  readonly created_at: string
  readonly expires_at: string | null
  /** null while unused */
  readonly last_used_at: string | null
  /** The key that took its place */
  readonly replaced_by?: number
}[]

/** A new key. `key` is shown this once. */
export type MintedKey = {
  readonly id: number
  /** The whole key, shown this once */
  readonly key: string
  readonly name: string
  /** `publishable` is for pages in a browser, from one origin */
  readonly key_class: "secret" | "publishable"
  readonly origin_allowlist: readonly string[] | null
  readonly expires_at: string | null
  readonly message: string
}

/** The key that takes another's place. `key` is shown this once. */
export type RotatedKey = {
  readonly id: number
  /** The whole key, shown this once */
  readonly key: string
  readonly name: string
  /** `publishable` is for pages in a browser, from one origin */
  readonly key_class: "secret" | "publishable"
  readonly origin_allowlist: readonly string[] | null
  readonly expires_at: string | null
  readonly message: string
  /** The old key's number */
  readonly replaces: number
  /** When the old key ends */
  readonly old_expires_at: string
}

/** A key that is refused from now on. */
export type RevokedKey = {
  readonly id: number
  readonly revoked: true
  /** How many the account has left */
  readonly remaining_secret_keys: number
}

/** A session token; `expires_at` in Unix seconds. */
export type MintedSession = {
  /** A JWT, good for 5 minutes */
  readonly token: string
  /** Unix seconds */
  readonly expires_at: number
  readonly token_type: "Bearer"
  /** What it may do, as words */
  readonly scope: string
}

/** A stack and its schema. */
export type StackWithSchema = {
  readonly name: string
  readonly description: string | null
  readonly websocket_url: string
  readonly schema: StackSchema
}

/** A stack's AST. */
export type StackAst = {
  readonly name: string
  readonly stack: string
  readonly description: string | null
  readonly websocket_url: string
  readonly visibility: "public" | "global" | "private"
  readonly content_hash: string
  readonly ast_payload: {
    readonly [name: string]: unknown
  }
}

/** What a stack was, newest version first. */
export type StackVersions = readonly {
  readonly version: number
  readonly content_hash: string
  readonly published_at: string
  /** What it means for readers */
  readonly verdict: "none" | "compatible" | "breaking"
  /** The same as semantic versioning says it */
  readonly bump: "none" | "patch" | "minor" | "major"
  /** How many, against the version before */
  readonly changes: number
  readonly message?: string
  readonly current: boolean
}[]

/** A spec's schema. */
export type SpecSchema = {
  readonly name: string
  readonly description: string | null
  readonly websocket_url: string | null
  readonly schema: StackSchema
}

/** A build and what happened to it. */
export type BuildWithEvents = Build & {
  readonly events: readonly {
    readonly id: number
    readonly event_type: string
    readonly phase: string | null
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
    readonly created_at: string
  }[]
}

/** A workflow run and its steps. */
export type RunWithSteps = Run & {
  readonly steps: readonly {
    readonly name: string
    readonly status: "queued" | "running" | "succeeded" | "failed" | "skipped"
    readonly started_at: string | null
    readonly completed_at: string | null
    readonly error_message: string | null
  }[]
}

export type Stack = {
  readonly name: string
  readonly description: string | null
  readonly websocket_url: string
  readonly entities: readonly string[]
  readonly visibility: "public" | "global" | "private"
  readonly content_hash: string
  readonly updated_at: string
  readonly version: number
  /** Whether session tokens for it may carry the transaction scopes */
  readonly relay: boolean
  readonly deprecated?: {
    readonly message: string
    readonly since: string
    readonly successor?: string
  }
  readonly schema?: StackSchema
}

export type StackSchema = {
  readonly stack_name: string
  readonly entities: readonly {
    readonly name: string
    /** Paths of fields */
    readonly primary_keys: readonly string[]
    readonly fields: readonly {
      /** With its section: `id.address` */
      readonly path: string
      readonly rust_type: string
      /** Whether it may be null */
      readonly nullable: boolean
      readonly section: string
    }[]
    readonly views: readonly {
      /** `Entity/name`: what a client subscribes to */
      readonly id: string
      /** One record, or a list of them */
      readonly mode: "state" | "list"
      /** Filters and orders, in turn */
      readonly pipeline: readonly unknown[]
    }[]
  }[]
  readonly types: readonly (
    | {
        readonly name: string
        readonly kind: "struct"
        readonly fields: readonly {
          readonly name: string
          readonly type: string
        }[]
      }
    | {
        readonly name: string
        readonly kind: "enum"
        readonly variants: readonly string[]
      }
  )[]
}

export type RegistryChange = {
  /** Ascends and never repeats */
  readonly id: number
  readonly at: string
  readonly stack: string
  readonly kind: "published" | "rolled-back" | "deprecated" | "undeprecated" | "withdrawn" | "restored"
  readonly version?: number
  /** The version that readers had until then */
  readonly previous_version?: number
  /** What it means for readers */
  readonly verdict?: "none" | "compatible" | "breaking"
  /** The same as semantic versioning says it */
  readonly bump?: "none" | "patch" | "minor" | "major"
  /** The version's message, or why it is deprecated */
  readonly message?: string
  readonly successor?: string
}

export type Diff = {
  readonly from: number
  readonly to: number
  /** What it means for readers */
  readonly verdict: "none" | "compatible" | "breaking"
  /** The same as semantic versioning says it */
  readonly bump: "none" | "patch" | "minor" | "major"
  readonly changes: readonly {
    readonly kind: string
    readonly path: string
    readonly before?: unknown
    readonly after?: unknown
    readonly breaking: boolean
    readonly text: string
  }[]
}

export type Spec = {
  /** Its number, for its paths */
  readonly id: number
  /** Its stack's name */
  readonly name: string
  /** Its main entity */
  readonly entity_name: string | null
  readonly description: string | null
  /** A name that no other spec ever has */
  readonly url_slug: string
  /** Where its stream is */
  readonly websocket_url: string | null
  /** 0 while it has no version */
  readonly latest_version: number
  readonly created_at: string
  readonly updated_at: string
  readonly visibility: "public" | "global" | "private"
  readonly deprecated?: {
    readonly message: string
    readonly since: string
    readonly successor?: string
  }
  /** Agents' slugs, for the owner alone */
  readonly shared_with?: readonly string[]
}

export type SpecVersion = {
  readonly id: number
  readonly spec_id: number
  readonly version_number: number
  readonly content_hash: string
  readonly state_name: string
  readonly program_id: string | null
  readonly handler_count: number
  readonly section_count: number
  readonly created_at: string
  readonly message: string | null
}

export type Build = {
  /** Its number, for its paths */
  readonly id: number
  /** The spec that is built */
  readonly spec_id: number
  /** The version of it that is built */
  readonly spec_version_id: number | null
  /** null: the stack itself */
  readonly branch: string | null
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
  /** What is being done */
  readonly phase: string | null
  /** In percent */
  readonly progress: number | null
  /** Why it failed */
  readonly status_message: string | null
  readonly websocket_url: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly completed_at: string | null
}

export type Deployment = {
  /** Its number, for its paths */
  readonly id: number
  /** The spec that it serves */
  readonly spec_id: number
  readonly spec_name: string
  /** null: the stack itself */
  readonly branch: string | null
  readonly status: "active" | "updating" | "stopped" | "failed"
  /** Why it failed */
  readonly status_message: string | null
  readonly websocket_url: string
  /** The build that readers see */
  readonly current_build_id: number | null
  /** The version that readers see */
  readonly current_version: number | null
  readonly first_deployed_at: string | null
  readonly last_deployed_at: string | null
}

export type DeploymentEvent = {
  readonly id: number
  readonly deployment_id: number
  readonly event_type: string
  readonly previous_status: "active" | "updating" | "stopped" | "failed" | null
  readonly new_status: "active" | "updating" | "stopped" | "failed" | null
  readonly build_id: number | null
  readonly message: string | null
  readonly actor: "user" | "system"
  readonly created_at: string
}

export type Run = {
  /** Its number, for its paths */
  readonly id: number
  readonly workflow: string
  readonly status: "queued" | "running" | "waiting" | "cancelling" | "succeeded" | "failed" | "cancelled"
  readonly trigger: "manual" | "schedule" | "event"
  /** The spec that is published */
  readonly spec_id: number | null
  /** What it deployed */
  readonly deployment_id: number | null
  /** 2 for the first retry */
  readonly attempt: number
  /** The run that this one tries again */
  readonly retry_of_id: number | null
  /** Why it failed, as a code */
  readonly error_code: string | null
  /** The same in words */
  readonly error_message: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly completed_at: string | null
}
