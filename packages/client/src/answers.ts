// Made by `pnpm openapi` from the platform's OpenAPI document.

/** A new agent. `api_key` is shown this once. */
export type SignUp = {
  readonly slug: string
  readonly display_name: string
  readonly api_key: string
  readonly message: string
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
  readonly key_class: "secret" | "publishable"
  readonly key_hint: string
  readonly origin_allowlist: readonly string[] | null
  readonly status: "active" | "disabled" | "expired"
  readonly current: boolean
  readonly created_at: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
  /** The key that took its place */
  readonly replaced_by?: number
}[]

/** A new key. `key` is shown this once. */
export type MintedKey = {
  readonly id: number
  readonly key: string
  readonly name: string
  readonly key_class: "secret" | "publishable"
  readonly origin_allowlist: readonly string[] | null
  readonly expires_at: string | null
  readonly message: string
}

/** The key that takes another's place. `key` is shown this once. */
export type RotatedKey = {
  readonly id: number
  readonly key: string
  readonly name: string
  readonly key_class: "secret" | "publishable"
  readonly origin_allowlist: readonly string[] | null
  readonly expires_at: string | null
  readonly message: string
  readonly replaces: number
  /** When the old key ends */
  readonly old_expires_at: string
}

/** A key that is refused from now on. */
export type RevokedKey = {
  readonly id: number
  readonly revoked: true
  readonly remaining_secret_keys: number
}

/** A session token; `expires_at` in Unix seconds. */
export type MintedSession = {
  readonly token: string
  /** Unix seconds */
  readonly expires_at: number
  readonly token_type: "Bearer"
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
  readonly verdict: "none" | "compatible" | "breaking"
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
    readonly primary_keys: readonly string[]
    readonly fields: readonly {
      readonly path: string
      readonly rust_type: string
      readonly nullable: boolean
      readonly section: string
    }[]
    readonly views: readonly {
      readonly id: string
      readonly mode: "state" | "list"
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

export type Diff = {
  readonly from: number
  readonly to: number
  readonly verdict: "none" | "compatible" | "breaking"
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
  readonly id: number
  readonly name: string
  readonly entity_name: string | null
  readonly description: string | null
  readonly url_slug: string
  readonly websocket_url: string | null
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
  readonly id: number
  readonly spec_id: number
  readonly spec_version_id: number | null
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
  readonly phase: string | null
  readonly progress: number | null
  readonly status_message: string | null
  readonly websocket_url: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly completed_at: string | null
}

export type Deployment = {
  readonly id: number
  readonly spec_id: number
  readonly spec_name: string
  readonly branch: string | null
  readonly status: "active" | "updating" | "stopped" | "failed"
  readonly status_message: string | null
  readonly websocket_url: string
  readonly current_build_id: number | null
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
  readonly id: number
  readonly workflow: string
  readonly status: "queued" | "running" | "waiting" | "cancelling" | "succeeded" | "failed" | "cancelled"
  readonly trigger: "manual" | "schedule" | "event"
  readonly spec_id: number | null
  readonly deployment_id: number | null
  readonly attempt: number
  readonly retry_of_id: number | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly completed_at: string | null
}
