INSERT INTO "stack_versions" ("line", "number", "content_hash", "published_at", "schema_gzip", "ast_gzip")
SELECT line, version, content_hash, updated_at, schema_gzip, ast_gzip FROM stacks;
--> statement-breakpoint
INSERT INTO "stack_names" ("name", "line") SELECT name, line FROM stacks;
--> statement-breakpoint
-- Every version that is ever served is kept, whichever release of the service publishes it. Line is generated, so it is
-- there only after the row is.
CREATE FUNCTION "keep_stack_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stack_versions (line, number, content_hash, published_at, schema_gzip, ast_gzip, verdict, bump, changes, message)
  VALUES (NEW.line, NEW.version, NEW.content_hash, NEW.updated_at, NEW.schema_gzip, NEW.ast_gzip, NEW.verdict, NEW.bump, NEW.changes, NEW.message)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "stacks_keep_version" AFTER INSERT OR UPDATE OF "version" ON "stacks" FOR EACH ROW EXECUTE FUNCTION "keep_stack_version"();
--> statement-breakpoint
CREATE TRIGGER "stack_versions_rows_stay" BEFORE UPDATE OR DELETE ON "stack_versions" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "stack_versions_stay" BEFORE TRUNCATE ON "stack_versions" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
-- A spec may now be made before its first version.
DROP TRIGGER "specs_begun" ON "specs";
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "check_begun"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM deployments WHERE id = NEW.id AND status IS NULL) THEN
    RAISE EXCEPTION 'a deployment has an event' USING ERRCODE = '23514', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- What is deleted stays for those records that tell of it, but counts in no list.
CREATE FUNCTION "count_out"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE record_blocks SET records = records - 1
  WHERE kind = TG_ARGV[0] AND user_id = NEW.owner_id AND block = NEW.id >> 10;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "specs_count_out" AFTER UPDATE OF "deleted_at" ON "specs" FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION "count_out"('specs');
--> statement-breakpoint
CREATE TRIGGER "deployments_count_out" AFTER UPDATE OF "deleted_at" ON "deployments" FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION "count_out"('deployments');
--> statement-breakpoint
CREATE TRIGGER "specs_stay_deleted" BEFORE UPDATE ON "specs" FOR EACH ROW
  WHEN (OLD.deleted_at IS NOT NULL) EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "deployments_stay_deleted" BEFORE UPDATE ON "deployments" FOR EACH ROW
  WHEN (OLD.deleted_at IS NOT NULL) EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE FUNCTION "tell_run_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_changes (run_id, status) VALUES (NEW.run_id, NEW.new_status);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "tell_run_step"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_changes (run_id, step, status) VALUES (NEW.run_id, NEW.name, NEW.status);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "run_events_tell" AFTER INSERT ON "run_events" FOR EACH ROW EXECUTE FUNCTION "tell_run_event"();
--> statement-breakpoint
CREATE TRIGGER "run_steps_tell" AFTER UPDATE OF "status" ON "run_steps" FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION "tell_run_step"();
