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
	"visibility" text NOT NULL,
	"viewers" integer[] NOT NULL,
	"except_visibility" text,
	"except_viewers" integer[] NOT NULL,
	CONSTRAINT "registry_changes_kind" CHECK ("registry_changes"."kind" in ('published', 'rolled-back', 'deprecated', 'undeprecated', 'withdrawn', 'restored'))
);
--> statement-breakpoint
CREATE TABLE "daily_work" (
	"name" text PRIMARY KEY NOT NULL,
	"begun_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "stacks" ADD COLUMN "viewers" integer[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX "registry_changes_of_line" ON "registry_changes" USING btree ("line","id");--> statement-breakpoint
CREATE INDEX "registry_changes_of_stack" ON "registry_changes" USING btree ("stack","id");--> statement-breakpoint
CREATE INDEX "registry_changes_at" ON "registry_changes" USING btree ("at");--> statement-breakpoint
CREATE INDEX "api_keys_of_user" ON "api_keys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "api_keys_replaces" ON "api_keys" USING btree ("replaces");--> statement-breakpoint
CREATE INDEX "stack_names_owner" ON "stack_names" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "stacks_owner" ON "stacks" USING btree ("owner_id");