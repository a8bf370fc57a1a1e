ALTER TABLE "agent_profiles" ADD COLUMN "disabled_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "agent_profiles" ADD COLUMN "disabled_message" text;--> statement-breakpoint
ALTER TABLE "agent_profiles" ADD CONSTRAINT "agent_profiles_disabled_message" CHECK (char_length("agent_profiles"."disabled_message") between 1 and 500);
