CREATE TABLE "build_events" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "build_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"build_id" integer NOT NULL,
	"event_type" text NOT NULL,
	"phase" text,
	"previous_status" text,
	"new_status" text,
	"created_at" timestamp (3) with time zone NOT NULL
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
	"spec_version_id" integer,
	"branch" text,
	"status" text NOT NULL,
	"phase" text,
	"progress" integer,
	"status_message" text,
	"websocket_url" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "builds_of_owner" UNIQUE("owner_id","id"),
	CONSTRAINT "builds_status" CHECK ("builds"."status" in ('pending', 'uploading', 'queued', 'building', 'pushing', 'deploying', 'completed', 'failed', 'cancelled')
        and ("builds"."status" = 'pending') = ("builds"."started_at" is null)
        and ("builds"."status" in ('completed', 'failed', 'cancelled')) = ("builds"."completed_at" is not null)),
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
	"branch" text,
	"status" text,
	"status_message" text,
	"websocket_url" text NOT NULL,
	"current_build_id" integer,
	"first_deployed_at" timestamp (3) with time zone,
	"last_deployed_at" timestamp (3) with time zone,
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
CREATE TABLE "run_events" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "run_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"run_id" integer NOT NULL,
	"previous_status" text,
	"new_status" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
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
	"spec_id" integer,
	"deployment_id" integer,
	"attempt" integer NOT NULL,
	"retry_of_id" integer,
	"error_code" text,
	"error_message" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "runs_of_owner" UNIQUE("owner_id","id"),
	CONSTRAINT "runs_status" CHECK ("runs"."status" in ('queued', 'running', 'waiting', 'cancelling', 'succeeded', 'failed', 'cancelled')
        and ("runs"."status" = 'queued') = ("runs"."started_at" is null)
        and ("runs"."status" in ('succeeded', 'failed', 'cancelled')) = ("runs"."completed_at" is not null)),
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
	"entity_name" text NOT NULL,
	"description" text,
	"url_slug" text NOT NULL,
	"websocket_url" text,
	"latest_version" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "specs_of_owner" UNIQUE("owner_id","id"),
	CONSTRAINT "specs_url_slug" CHECK ("specs"."url_slug" ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
	CONSTRAINT "specs_latest_version" CHECK ("specs"."latest_version" >= 0)
);
--> statement-breakpoint
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
CREATE INDEX "build_events_of_build" ON "build_events" USING btree ("build_id","id");--> statement-breakpoint
CREATE INDEX "deployment_events_of_deployment" ON "deployment_events" USING btree ("deployment_id","id");--> statement-breakpoint
CREATE INDEX "run_events_of_run" ON "run_events" USING btree ("run_id","id");