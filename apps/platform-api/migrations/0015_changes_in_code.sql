-- The service writes the rows, in the transaction of the change: src/registry/stack-changes.ts.
DROP TRIGGER "stacks_record_change" ON "stacks";--> statement-breakpoint
DROP FUNCTION "record_stack_change"();--> statement-breakpoint
DROP TRIGGER "stacks_viewers" ON "stacks";--> statement-breakpoint
DROP FUNCTION "set_stack_viewers"();--> statement-breakpoint
ALTER TABLE "stacks" ADD CONSTRAINT "stacks_verdict" CHECK ("stacks"."verdict" in ('none', 'compatible', 'breaking'));--> statement-breakpoint
ALTER TABLE "stacks" ADD CONSTRAINT "stacks_bump" CHECK ("stacks"."bump" in ('none', 'patch', 'minor', 'major'));--> statement-breakpoint
ALTER TABLE "stack_versions" ADD CONSTRAINT "stack_versions_verdict" CHECK ("stack_versions"."verdict" in ('none', 'compatible', 'breaking'));--> statement-breakpoint
ALTER TABLE "stack_versions" ADD CONSTRAINT "stack_versions_bump" CHECK ("stack_versions"."bump" in ('none', 'patch', 'minor', 'major'));--> statement-breakpoint
ALTER TABLE "registry_changes" ADD CONSTRAINT "registry_changes_version" CHECK ("registry_changes"."version" >= 1);--> statement-breakpoint
ALTER TABLE "registry_changes" ADD CONSTRAINT "registry_changes_previous_version" CHECK ("registry_changes"."previous_version" >= 1);--> statement-breakpoint
ALTER TABLE "registry_changes" ADD CONSTRAINT "registry_changes_verdict" CHECK ("registry_changes"."verdict" in ('none', 'compatible', 'breaking'));--> statement-breakpoint
ALTER TABLE "registry_changes" ADD CONSTRAINT "registry_changes_bump" CHECK ("registry_changes"."bump" in ('none', 'patch', 'minor', 'major'));--> statement-breakpoint
ALTER TABLE "registry_changes" ADD CONSTRAINT "registry_changes_visibility" CHECK ("registry_changes"."visibility" in ('public', 'global', 'private'));--> statement-breakpoint
ALTER TABLE "registry_changes" ADD CONSTRAINT "registry_changes_except_visibility" CHECK ("registry_changes"."except_visibility" in ('public', 'global', 'private'));
