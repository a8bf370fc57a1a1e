ALTER TABLE "api_keys" ADD COLUMN "disabled_by" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_disabled_by" CHECK ("api_keys"."disabled_by" in ('owner', 'operator'));
