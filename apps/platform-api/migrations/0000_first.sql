CREATE TABLE "agent_profiles" (
	"user_id" integer PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"display_name" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "agent_profiles_slug_unique" UNIQUE("slug"),
	CONSTRAINT "agent_profiles_slug" CHECK ("agent_profiles"."slug" ~ '^agt_[0-9a-hjkmnp-tv-z]{10}$'),
	CONSTRAINT "agent_profiles_display_name" CHECK (char_length("agent_profiles"."display_name") between 1 and 64),
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
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_key_hash_unique" UNIQUE("key_hash"),
	CONSTRAINT "api_keys_hash" CHECK (octet_length("api_keys"."key_hash") = 32),
	CONSTRAINT "api_keys_prefix" CHECK ("api_keys"."prefix" in ('svc_ak_', 'svc_pk_', 'svc_sk_')),
	CONSTRAINT "api_keys_class" CHECK ("api_keys"."key_class" = case "api_keys"."prefix" when 'svc_pk_' then 'publishable' else 'secret' end),
	CONSTRAINT "api_keys_last_four" CHECK ("api_keys"."last_four" ~ '^[0-9A-Za-z]{4}$'),
	CONSTRAINT "api_keys_name" CHECK (char_length("api_keys"."name") between 1 and 64),
	CONSTRAINT "api_keys_origins" CHECK (case "api_keys"."key_class" when 'publishable' then coalesce(cardinality("api_keys"."origin_allowlist"), 0) = 1 else "api_keys"."origin_allowlist" is null end)
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
CREATE TABLE "registry_state" (
	"id" integer PRIMARY KEY NOT NULL,
	"revision" bigint NOT NULL,
	CONSTRAINT "registry_state_one_row" CHECK ("registry_state"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "signups" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "signups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"address" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
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
	CONSTRAINT "stacks_name_unique" UNIQUE("name"),
	CONSTRAINT "stacks_websocket_url_unique" UNIQUE("websocket_url"),
	CONSTRAINT "stacks_name" CHECK ("stacks"."name" ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
	CONSTRAINT "stacks_visibility" CHECK ("stacks"."visibility" in ('public', 'global', 'private')),
	CONSTRAINT "stacks_version" CHECK ("stacks"."version" >= 1),
	CONSTRAINT "stacks_content_hash" CHECK ("stacks"."content_hash" ~ '^[0-9a-f]{64}$')
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
ALTER TABLE "agent_profiles" ADD CONSTRAINT "agent_profiles_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_live" ON "api_keys" USING btree ("user_id","id") WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "signups_address" ON "signups" USING btree ("address","at");--> statement-breakpoint
CREATE INDEX "signups_at" ON "signups" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "stacks_revision" ON "stacks" USING btree ("revision");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_unique" ON "users" USING btree (lower("email"));