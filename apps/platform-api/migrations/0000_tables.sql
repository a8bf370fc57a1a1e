CREATE TABLE "agent_profiles" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"display_name" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_seen_at" timestamp (3) with time zone NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"disabled_message" text,
	CONSTRAINT "agent_profiles_slug_unique" UNIQUE("slug"),
	CONSTRAINT "agent_profiles_disabled_message" CHECK (octet_length("agent_profiles"."disabled_message") between 1 and 2000),
	CONSTRAINT "agent_profiles_slug" CHECK ("agent_profiles"."slug" ~ '^agt_[0-9a-hjkmnp-tv-z]{10}$'),
	CONSTRAINT "agent_profiles_display_name" CHECK (octet_length("agent_profiles"."display_name") between 1 and 256),
	CONSTRAINT "agent_profiles_status" CHECK ("agent_profiles"."status" in ('active', 'disabled'))
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "api_keys_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"key_class" text NOT NULL,
	"prefix" text NOT NULL,
	"last_four" text NOT NULL,
	"name" text NOT NULL,
	"origin_allowlist" text[],
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"disabled_at" timestamp (3) with time zone,
	"disabled_by" text,
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	"replaced_by" integer,
	"replaces" integer,
	CONSTRAINT "api_keys_key_hash_unique" UNIQUE("key_hash"),
	CONSTRAINT "api_keys_replaced_by_unique" UNIQUE("replaced_by"),
	CONSTRAINT "api_keys_hash" CHECK (octet_length("api_keys"."key_hash") = 32),
	CONSTRAINT "api_keys_prefix" CHECK ("api_keys"."prefix" in ('svc_ak_', 'svc_pk_', 'svc_sk_')),
	CONSTRAINT "api_keys_class" CHECK ("api_keys"."key_class" = case "api_keys"."prefix" when 'svc_pk_' then 'publishable' else 'secret' end),
	CONSTRAINT "api_keys_last_four" CHECK ("api_keys"."last_four" ~ '^[0-9A-Za-z]{4}$'),
	CONSTRAINT "api_keys_name" CHECK (octet_length("api_keys"."name") between 1 and 256),
	CONSTRAINT "api_keys_origins" CHECK (case "api_keys"."key_class" when 'publishable' then coalesce(cardinality("api_keys"."origin_allowlist"), 0) = 1 else "api_keys"."origin_allowlist" is null end),
	CONSTRAINT "api_keys_disabled_by" CHECK ("api_keys"."disabled_by" in ('owner', 'operator')),
	CONSTRAINT "api_keys_replaced" CHECK ("api_keys"."replaced_by" is null or ("api_keys"."replaced_by" > "api_keys"."id" and "api_keys"."expires_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"target" text NOT NULL,
	"outcome" text NOT NULL,
	"address_prefix" text,
	"request_id" text
);
--> statement-breakpoint
CREATE TABLE "key_secrets" (
	"id" integer PRIMARY KEY NOT NULL,
	"secret" "bytea" NOT NULL,
	CONSTRAINT "key_secrets_one_row" CHECK ("key_secrets"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "key_usage" (
	"key_id" integer NOT NULL,
	"day" date NOT NULL,
	"requests" integer NOT NULL,
	"refused" integer NOT NULL,
	"sessions" integer NOT NULL,
	CONSTRAINT "key_usage_key_id_day_pk" PRIMARY KEY("key_id","day")
);
--> statement-breakpoint
CREATE TABLE "signups" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "signups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"address" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "token_limits" (
	"subject" text PRIMARY KEY NOT NULL,
	"max_transaction_inspect_requests_per_minute" integer,
	"max_transaction_send_requests_per_minute" integer,
	"max_transaction_status_requests_per_minute" integer,
	"max_transaction_request_bytes" integer,
	"max_transaction_bytes" integer,
	"max_transaction_concurrency" integer
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "users_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"email" text,
	"name" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "users_kind" CHECK ("users"."kind" in ('agent', 'human')),
	CONSTRAINT "users_email" CHECK (("users"."kind" = 'human') = ("users"."email" is not null))
);
--> statement-breakpoint
CREATE TABLE "build_events" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "build_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"build_id" integer NOT NULL,
	"event_type" text NOT NULL,
	"phase" text,
	"previous_status" text,
	"new_status" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "build_events_transition" CHECK (("build_events"."previous_status", "build_events"."new_status") in (('pending', 'uploading'), ('pending', 'failed'), ('pending', 'cancelled'), ('uploading', 'queued'), ('uploading', 'failed'), ('uploading', 'cancelled'), ('queued', 'building'), ('queued', 'failed'), ('queued', 'cancelled'), ('building', 'pushing'), ('building', 'failed'), ('building', 'cancelled'), ('pushing', 'deploying'), ('pushing', 'failed'), ('pushing', 'cancelled'), ('deploying', 'completed'), ('deploying', 'failed'), ('deploying', 'cancelled')))
);
--> statement-breakpoint
CREATE TABLE "build_shares" (
	"user_id" integer NOT NULL,
	"record_id" integer NOT NULL,
	CONSTRAINT "build_shares_user_id_record_id_pk" PRIMARY KEY("user_id","record_id")
);
--> statement-breakpoint
CREATE TABLE "builds" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "builds_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"owner_id" integer NOT NULL,
	"spec_id" integer NOT NULL,
	"spec_version_id" integer NOT NULL,
	"status" text NOT NULL,
	"phase" text,
	"progress" integer,
	"status_message" text,
	"websocket_url" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"allow_breaking" boolean DEFAULT false NOT NULL,
	"run_id" integer,
	CONSTRAINT "builds_of_owner" UNIQUE("owner_id","id"),
	CONSTRAINT "builds_status" CHECK ("builds"."status" in ('pending', 'uploading', 'queued', 'building', 'pushing', 'deploying', 'completed', 'failed', 'cancelled') and ("builds"."status" in ('pending')) = ("builds"."started_at" is null) and ("builds"."status" in ('completed', 'failed', 'cancelled')) = ("builds"."completed_at" is not null)),
	CONSTRAINT "builds_progress" CHECK ("builds"."progress" between 0 and 100),
	CONSTRAINT "builds_times" CHECK ("builds"."created_at" <= "builds"."started_at" and "builds"."started_at" <= "builds"."completed_at")
);
--> statement-breakpoint
CREATE TABLE "deployment_events" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "deployment_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"deployment_id" integer NOT NULL,
	"event_type" text NOT NULL,
	"previous_status" text,
	"new_status" text,
	"build_id" integer,
	"message" text,
	"actor" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "deployment_events_transition" CHECK (("deployment_events"."previous_status", "deployment_events"."new_status") in (('active', 'updating'), ('active', 'stopped'), ('active', 'failed'), ('updating', 'active'), ('updating', 'failed'), ('updating', 'stopped'), ('stopped', 'updating'), ('failed', 'updating'), ('failed', 'stopped'))),
	CONSTRAINT "deployment_events_actor" CHECK ("deployment_events"."actor" in ('user', 'system'))
);
--> statement-breakpoint
CREATE TABLE "deployment_shares" (
	"user_id" integer NOT NULL,
	"record_id" integer NOT NULL,
	CONSTRAINT "deployment_shares_user_id_record_id_pk" PRIMARY KEY("user_id","record_id")
);
--> statement-breakpoint
CREATE TABLE "deployments" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "deployments_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"owner_id" integer NOT NULL,
	"spec_id" integer NOT NULL,
	"status" text,
	"status_message" text,
	"websocket_url" text NOT NULL,
	"current_build_id" integer,
	"first_deployed_at" timestamp (3) with time zone,
	"last_deployed_at" timestamp (3) with time zone,
	"stack_name" text NOT NULL,
	"operation" text,
	"operation_id" integer,
	"settled_status" text,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "deployments_of_owner" UNIQUE("owner_id","id"),
	CONSTRAINT "deployments_status" CHECK ("deployments"."status" in ('active', 'updating', 'stopped', 'failed')),
	CONSTRAINT "deployments_times" CHECK ("deployments"."first_deployed_at" <= "deployments"."last_deployed_at")
);
--> statement-breakpoint
CREATE TABLE "record_blocks" (
	"kind" text NOT NULL,
	"user_id" integer NOT NULL,
	"block" integer NOT NULL,
	"records" integer NOT NULL,
	CONSTRAINT "record_blocks_kind_user_id_block_pk" PRIMARY KEY("kind","user_id","block")
);
--> statement-breakpoint
CREATE TABLE "run_changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "run_changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" integer NOT NULL,
	"step" text,
	"status" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_events" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "run_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"run_id" integer NOT NULL,
	"previous_status" text,
	"new_status" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "run_events_transition" CHECK (("run_events"."previous_status", "run_events"."new_status") in (('queued', 'running'), ('queued', 'cancelled'), ('running', 'waiting'), ('running', 'succeeded'), ('running', 'failed'), ('running', 'cancelling'), ('waiting', 'running'), ('waiting', 'failed'), ('waiting', 'cancelled'), ('cancelling', 'cancelled'), ('cancelling', 'failed')))
);
--> statement-breakpoint
CREATE TABLE "run_shares" (
	"user_id" integer NOT NULL,
	"record_id" integer NOT NULL,
	CONSTRAINT "run_shares_user_id_record_id_pk" PRIMARY KEY("user_id","record_id")
);
--> statement-breakpoint
CREATE TABLE "run_steps" (
	"run_id" integer NOT NULL,
	"position" integer NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"error_message" text,
	CONSTRAINT "run_steps_run_id_position_pk" PRIMARY KEY("run_id","position"),
	CONSTRAINT "run_steps_status" CHECK ("run_steps"."status" in ('queued', 'running', 'succeeded', 'failed', 'skipped')),
	CONSTRAINT "run_steps_times" CHECK ("run_steps"."started_at" <= "run_steps"."completed_at")
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"owner_id" integer NOT NULL,
	"workflow" text NOT NULL,
	"status" text NOT NULL,
	"trigger" text NOT NULL,
	"spec_id" integer NOT NULL,
	"deployment_id" integer,
	"attempt" integer NOT NULL,
	"retry_of_id" integer,
	"error_code" text,
	"error_message" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"spec_version_id" integer NOT NULL,
	"allow_breaking" boolean DEFAULT false NOT NULL,
	"approval" boolean DEFAULT false NOT NULL,
	"approved_at" timestamp (3) with time zone,
	"build_id" integer,
	CONSTRAINT "runs_of_owner" UNIQUE("owner_id","id"),
	CONSTRAINT "runs_status" CHECK ("runs"."status" in ('queued', 'running', 'waiting', 'cancelling', 'succeeded', 'failed', 'cancelled') and ("runs"."status" in ('queued')) = ("runs"."started_at" is null) and ("runs"."status" in ('succeeded', 'failed', 'cancelled')) = ("runs"."completed_at" is not null)),
	CONSTRAINT "runs_trigger" CHECK ("runs"."trigger" in ('manual', 'schedule', 'event')),
	CONSTRAINT "runs_attempt" CHECK ("runs"."attempt" >= case when "runs"."retry_of_id" is null then 1 else 2 end),
	CONSTRAINT "runs_retry_of_older" CHECK ("runs"."retry_of_id" < "runs"."id"),
	CONSTRAINT "runs_times" CHECK ("runs"."created_at" <= "runs"."started_at" and "runs"."started_at" <= "runs"."completed_at")
);
--> statement-breakpoint
CREATE TABLE "spec_shares" (
	"user_id" integer NOT NULL,
	"record_id" integer NOT NULL,
	CONSTRAINT "spec_shares_user_id_record_id_pk" PRIMARY KEY("user_id","record_id")
);
--> statement-breakpoint
CREATE TABLE "spec_versions" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "spec_versions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"spec_id" integer NOT NULL,
	"version_number" integer NOT NULL,
	"content_hash" text NOT NULL,
	"state_name" text NOT NULL,
	"program_id" text,
	"handler_count" integer NOT NULL,
	"section_count" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"message" text,
	"schema" text NOT NULL,
	"ast_gzip" "bytea" NOT NULL,
	CONSTRAINT "spec_versions_of_spec" UNIQUE("spec_id","id"),
	CONSTRAINT "spec_versions_number" UNIQUE("spec_id","version_number"),
	CONSTRAINT "spec_versions_content_hash" CHECK ("spec_versions"."content_hash" ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "spec_versions_counts" CHECK ("spec_versions"."handler_count" >= 0 and "spec_versions"."section_count" >= 0)
);
--> statement-breakpoint
CREATE TABLE "specs" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "specs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"owner_id" integer NOT NULL,
	"name" text NOT NULL,
	"entity_name" text,
	"description" text,
	"url_slug" text NOT NULL,
	"websocket_url" text,
	"latest_version" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"visibility" text DEFAULT 'private' NOT NULL,
	"deprecated" text,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "specs_of_owner" UNIQUE("owner_id","id"),
	CONSTRAINT "specs_url_slug" CHECK ("specs"."url_slug" ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
	CONSTRAINT "specs_latest_version" CHECK ("specs"."latest_version" >= 0),
	CONSTRAINT "specs_visibility" CHECK ("specs"."visibility" in ('public', 'global', 'private'))
);
--> statement-breakpoint
CREATE TABLE "line_readers" (
	"line" text PRIMARY KEY NOT NULL,
	"visibility" text NOT NULL,
	"viewers" integer[] NOT NULL,
	CONSTRAINT "line_readers_visibility" CHECK ("line_readers"."visibility" in ('public', 'global', 'private'))
);
--> statement-breakpoint
CREATE TABLE "registry_changes" (
	"id" bigint PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"stack" text NOT NULL,
	"line" text NOT NULL,
	"kind" text NOT NULL,
	"version" integer NOT NULL,
	"previous_version" integer,
	"verdict" text NOT NULL,
	"bump" text NOT NULL,
	"message" text,
	"successor" text,
	"visibility" text,
	"viewers" integer[],
	"except_visibility" text,
	"except_viewers" integer[] NOT NULL,
	CONSTRAINT "registry_changes_version" CHECK ("registry_changes"."version" >= 1),
	CONSTRAINT "registry_changes_previous_version" CHECK ("registry_changes"."previous_version" >= 1),
	CONSTRAINT "registry_changes_readers" CHECK (num_nonnulls("registry_changes"."visibility", "registry_changes"."viewers") = case "registry_changes"."kind" when 'withdrawn' then 2 else 0 end),
	CONSTRAINT "registry_changes_kind" CHECK ("registry_changes"."kind" in ('published', 'rolled-back', 'deprecated', 'undeprecated', 'withdrawn', 'restored')),
	CONSTRAINT "registry_changes_verdict" CHECK ("registry_changes"."verdict" in ('none', 'compatible', 'breaking')),
	CONSTRAINT "registry_changes_bump" CHECK ("registry_changes"."bump" in ('none', 'patch', 'minor', 'major')),
	CONSTRAINT "registry_changes_visibility" CHECK ("registry_changes"."visibility" in ('public', 'global', 'private')),
	CONSTRAINT "registry_changes_except_visibility" CHECK ("registry_changes"."except_visibility" in ('public', 'global', 'private'))
);
--> statement-breakpoint
CREATE TABLE "registry_state" (
	"id" integer PRIMARY KEY NOT NULL,
	"revision" bigint NOT NULL,
	CONSTRAINT "registry_state_one_row" CHECK ("registry_state"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "stack_modules" (
	"line" text NOT NULL,
	"number" integer NOT NULL,
	"language" text NOT NULL,
	"name" text NOT NULL,
	"gzip" "bytea" NOT NULL,
	CONSTRAINT "stack_modules_line_number_language_pk" PRIMARY KEY("line","number","language")
);
--> statement-breakpoint
CREATE TABLE "stack_names" (
	"name" text PRIMARY KEY NOT NULL,
	"owner_id" integer,
	"line" text NOT NULL,
	"freed_at" timestamp (3) with time zone,
	"approved" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "stack_versions" (
	"line" text NOT NULL,
	"number" integer NOT NULL,
	"content_hash" text NOT NULL,
	"published_at" timestamp (3) with time zone NOT NULL,
	"schema_gzip" "bytea" NOT NULL,
	"ast_gzip" "bytea" NOT NULL,
	"verdict" text,
	"bump" text,
	"changes" integer,
	"message" text,
	CONSTRAINT "stack_versions_line_number_pk" PRIMARY KEY("line","number"),
	CONSTRAINT "stack_versions_verdict" CHECK ("stack_versions"."verdict" in ('none', 'compatible', 'breaking')),
	CONSTRAINT "stack_versions_bump" CHECK ("stack_versions"."bump" in ('none', 'patch', 'minor', 'major'))
);
--> statement-breakpoint
CREATE TABLE "stacks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "stacks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"description" text,
	"websocket_url" text NOT NULL,
	"visibility" text NOT NULL,
	"relay" boolean NOT NULL,
	"browser_send" boolean NOT NULL,
	"version" integer NOT NULL,
	"content_hash" text NOT NULL,
	"revision" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"detail" text NOT NULL,
	"schema" text NOT NULL,
	"schema_gzip" "bytea" NOT NULL,
	"ast_gzip" "bytea" NOT NULL,
	"owner_id" integer,
	"spec_id" integer,
	"viewers" integer[] DEFAULT '{}' NOT NULL,
	"line" text GENERATED ALWAYS AS (case when spec_id is null then 'name:' || name else 'spec:' || spec_id end) STORED NOT NULL,
	"deprecated" text,
	"verdict" text,
	"bump" text,
	"changes" integer,
	"message" text,
	CONSTRAINT "stacks_name_unique" UNIQUE("name"),
	CONSTRAINT "stacks_websocket_url_unique" UNIQUE("websocket_url"),
	CONSTRAINT "stacks_name" CHECK ("stacks"."name" ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
	CONSTRAINT "stacks_visibility" CHECK ("stacks"."visibility" in ('public', 'global', 'private')),
	CONSTRAINT "stacks_verdict" CHECK ("stacks"."verdict" in ('none', 'compatible', 'breaking')),
	CONSTRAINT "stacks_bump" CHECK ("stacks"."bump" in ('none', 'patch', 'minor', 'major')),
	CONSTRAINT "stacks_version" CHECK ("stacks"."version" >= 1),
	CONSTRAINT "stacks_content_hash" CHECK ("stacks"."content_hash" ~ '^[0-9a-f]{64}$')
);
--> statement-breakpoint
CREATE TABLE "daily_work" (
	"name" text PRIMARY KEY NOT NULL,
	"begun_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"user_id" integer NOT NULL,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"key" text NOT NULL,
	"body_hash" text NOT NULL,
	"status" integer NOT NULL,
	"location" text,
	"body" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_user_id_method_path_key_pk" PRIMARY KEY("user_id","method","path","key")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"kind" text NOT NULL,
	"record_id" integer NOT NULL,
	"owner_id" integer NOT NULL,
	"spec_id" integer NOT NULL,
	"next_at" timestamp (3) with time zone,
	"lease_by" text,
	"lease_until" timestamp (3) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"first_attempt_at" timestamp (3) with time zone,
	"claims" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "jobs_kind_record_id_pk" PRIMARY KEY("kind","record_id")
);
--> statement-breakpoint
ALTER TABLE "agent_profiles" ADD CONSTRAINT "agent_profiles_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_replaced_by_api_keys_id_fk" FOREIGN KEY ("replaced_by") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_replaces_api_keys_id_fk" FOREIGN KEY ("replaces") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "key_usage" ADD CONSTRAINT "key_usage_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "build_events" ADD CONSTRAINT "build_events_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "build_shares" ADD CONSTRAINT "build_shares_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "build_shares" ADD CONSTRAINT "build_shares_record_id_builds_id_fk" FOREIGN KEY ("record_id") REFERENCES "public"."builds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "builds" ADD CONSTRAINT "builds_spec" FOREIGN KEY ("owner_id","spec_id") REFERENCES "public"."specs"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "builds" ADD CONSTRAINT "builds_version" FOREIGN KEY ("spec_id","spec_version_id") REFERENCES "public"."spec_versions"("spec_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployment_events" ADD CONSTRAINT "deployment_events_deployment_id_deployments_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "public"."deployments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployment_events" ADD CONSTRAINT "deployment_events_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployment_shares" ADD CONSTRAINT "deployment_shares_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployment_shares" ADD CONSTRAINT "deployment_shares_record_id_deployments_id_fk" FOREIGN KEY ("record_id") REFERENCES "public"."deployments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_spec" FOREIGN KEY ("owner_id","spec_id") REFERENCES "public"."specs"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_build" FOREIGN KEY ("owner_id","current_build_id") REFERENCES "public"."builds"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_events" ADD CONSTRAINT "run_events_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_shares" ADD CONSTRAINT "run_shares_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_shares" ADD CONSTRAINT "run_shares_record_id_runs_id_fk" FOREIGN KEY ("record_id") REFERENCES "public"."runs"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_steps" ADD CONSTRAINT "run_steps_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_spec" FOREIGN KEY ("owner_id","spec_id") REFERENCES "public"."specs"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_deployment" FOREIGN KEY ("owner_id","deployment_id") REFERENCES "public"."deployments"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_retry_of" FOREIGN KEY ("owner_id","retry_of_id") REFERENCES "public"."runs"("owner_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spec_shares" ADD CONSTRAINT "spec_shares_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spec_shares" ADD CONSTRAINT "spec_shares_record_id_specs_id_fk" FOREIGN KEY ("record_id") REFERENCES "public"."specs"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spec_versions" ADD CONSTRAINT "spec_versions_spec_id_specs_id_fk" FOREIGN KEY ("spec_id") REFERENCES "public"."specs"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "specs" ADD CONSTRAINT "specs_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stack_names" ADD CONSTRAINT "stack_names_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stacks" ADD CONSTRAINT "stacks_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_live" ON "api_keys" USING btree ("user_id","id") WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "api_keys_of_user" ON "api_keys" USING btree ("user_id","revoked_at",coalesce("expires_at", 'infinity'));--> statement-breakpoint
CREATE INDEX "api_keys_replaces" ON "api_keys" USING btree ("replaces");--> statement-breakpoint
CREATE INDEX "key_usage_day" ON "key_usage" USING btree ("day");--> statement-breakpoint
CREATE INDEX "signups_address" ON "signups" USING btree ("address","at");--> statement-breakpoint
CREATE INDEX "signups_at" ON "signups" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_unique" ON "users" USING btree (lower("email"));--> statement-breakpoint
CREATE INDEX "build_events_of_build" ON "build_events" USING btree ("build_id","id");--> statement-breakpoint
CREATE INDEX "build_shares_of_record" ON "build_shares" USING btree ("record_id","user_id");--> statement-breakpoint
CREATE INDEX "builds_of_spec" ON "builds" USING btree ("spec_id","completed_at");--> statement-breakpoint
CREATE INDEX "deployment_events_of_deployment" ON "deployment_events" USING btree ("deployment_id","id");--> statement-breakpoint
CREATE INDEX "deployment_shares_of_record" ON "deployment_shares" USING btree ("record_id","user_id");--> statement-breakpoint
CREATE INDEX "deployments_live" ON "deployments" USING btree ("owner_id","id") WHERE "deployments"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "deployments_one_per_spec" ON "deployments" USING btree ("spec_id") WHERE "deployments"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "run_changes_of_run" ON "run_changes" USING btree ("run_id","id");--> statement-breakpoint
CREATE INDEX "run_events_of_run" ON "run_events" USING btree ("run_id","id");--> statement-breakpoint
CREATE INDEX "run_shares_of_record" ON "run_shares" USING btree ("record_id","user_id");--> statement-breakpoint
CREATE INDEX "runs_of_spec" ON "runs" USING btree ("spec_id","completed_at");--> statement-breakpoint
CREATE INDEX "runs_retries" ON "runs" USING btree ("retry_of_id");--> statement-breakpoint
CREATE INDEX "spec_shares_of_record" ON "spec_shares" USING btree ("record_id","user_id");--> statement-breakpoint
CREATE INDEX "specs_live" ON "specs" USING btree ("owner_id","id") WHERE "specs"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "registry_changes_of_line" ON "registry_changes" USING btree ("line","id");--> statement-breakpoint
CREATE INDEX "registry_changes_of_stack" ON "registry_changes" USING btree ("stack","id");--> statement-breakpoint
CREATE INDEX "registry_changes_at" ON "registry_changes" USING btree ("at");--> statement-breakpoint
CREATE INDEX "stack_names_owner" ON "stack_names" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "stack_names_line" ON "stack_names" USING btree ("line");--> statement-breakpoint
CREATE UNIQUE INDEX "stacks_revision" ON "stacks" USING btree ("revision");--> statement-breakpoint
CREATE UNIQUE INDEX "stacks_line" ON "stacks" USING btree ("line");--> statement-breakpoint
CREATE INDEX "stacks_owner" ON "stacks" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "jobs_next" ON "jobs" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "jobs_of_owner" ON "jobs" USING btree ("owner_id","kind","record_id");--> statement-breakpoint
CREATE INDEX "jobs_of_spec" ON "jobs" USING btree ("kind","spec_id","record_id");