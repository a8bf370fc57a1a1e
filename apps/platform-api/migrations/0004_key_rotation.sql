ALTER TABLE "api_keys" ADD COLUMN "replaced_by" integer;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "replaces" integer;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_replaced_by_api_keys_id_fk" FOREIGN KEY ("replaced_by") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_replaces_api_keys_id_fk" FOREIGN KEY ("replaces") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_replaced_by_unique" UNIQUE("replaced_by");--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_replaced" CHECK ("api_keys"."replaced_by" is null or ("api_keys"."replaced_by" > "api_keys"."id" and "api_keys"."expires_at" is not null));--> statement-breakpoint
CREATE OR REPLACE FUNCTION "guard_api_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.key_hash <> OLD.key_hash OR NEW.user_id <> OLD.user_id OR NEW.prefix <> OLD.prefix THEN
    RAISE EXCEPTION 'a key stays what it is' USING ERRCODE = '23001';
  END IF;
  IF OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at THEN
    RAISE EXCEPTION 'a revoked key stays revoked' USING ERRCODE = '23001';
  END IF;
  IF OLD.replaced_by IS NOT NULL AND (NEW.replaced_by IS NULL OR NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at) THEN
    RAISE EXCEPTION 'a replaced key stays replaced, and lives no longer' USING ERRCODE = '23001';
  END IF;
  RETURN NEW;
END
$$;
