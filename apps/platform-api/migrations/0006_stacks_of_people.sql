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
	CONSTRAINT "stack_versions_line_number_pk" PRIMARY KEY("line","number")
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
	CONSTRAINT "jobs_kind_record_id_pk" PRIMARY KEY("kind","record_id")
);
--> statement-breakpoint
CREATE TABLE "run_changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "run_changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"run_id" integer NOT NULL,
	"step" text,
	"status" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "specs" ALTER COLUMN "entity_name" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "owner_id" integer;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "spec_id" integer;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "branch" text;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "line" text GENERATED ALWAYS AS (case when spec_id is null then 'name:' || name else 'spec:' || spec_id || coalesce(':' || branch, '') end) STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "deprecated" text;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "verdict" text;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "bump" text;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "changes" integer;--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "message" text;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "allow_breaking" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "run_id" integer;--> statement-breakpoint
ALTER TABLE "deployments" ADD COLUMN "stack_name" text;--> statement-breakpoint
ALTER TABLE "deployments" ADD COLUMN "operation" text;--> statement-breakpoint
ALTER TABLE "deployments" ADD COLUMN "operation_id" integer;--> statement-breakpoint
ALTER TABLE "deployments" ADD COLUMN "settled_status" text;--> statement-breakpoint
ALTER TABLE "deployments" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "spec_version_id" integer;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "branch" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "allow_breaking" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "approval" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "approved_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "build_id" integer;--> statement-breakpoint
ALTER TABLE "spec_versions" ADD COLUMN "message" text;--> statement-breakpoint
ALTER TABLE "specs" ADD COLUMN "visibility" text DEFAULT 'private' NOT NULL;--> statement-breakpoint
ALTER TABLE "specs" ADD COLUMN "deprecated" text;--> statement-breakpoint
ALTER TABLE "specs" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "stack_names" ADD CONSTRAINT "stack_names_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "jobs_next" ON "jobs" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "jobs_of_owner" ON "jobs" USING btree ("owner_id","kind","record_id");--> statement-breakpoint
CREATE INDEX "run_changes_of_run" ON "run_changes" USING btree ("run_id","id");--> statement-breakpoint
ALTER TABLE "stacks" ADD CONSTRAINT "stacks_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "stacks_line" ON "stacks" USING btree ("line");--> statement-breakpoint
CREATE UNIQUE INDEX "deployments_of_branch" ON "deployments" USING btree ("spec_id",coalesce("branch", '')) WHERE "deployments"."stack_name" is not null and "deployments"."deleted_at" is null;--> statement-breakpoint
ALTER TABLE "specs" ADD CONSTRAINT "specs_visibility" CHECK ("specs"."visibility" in ('public', 'global', 'private'));