CREATE FUNCTION "next_statuses"("kind" text, "status" text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE "kind"
    WHEN 'build' THEN CASE "status"
      WHEN 'pending' THEN ARRAY['uploading', 'failed', 'cancelled']
      WHEN 'uploading' THEN ARRAY['queued', 'failed', 'cancelled']
      WHEN 'queued' THEN ARRAY['building', 'failed', 'cancelled']
      WHEN 'building' THEN ARRAY['pushing', 'failed', 'cancelled']
      WHEN 'pushing' THEN ARRAY['deploying', 'failed', 'cancelled']
      WHEN 'deploying' THEN ARRAY['completed', 'failed', 'cancelled']
    END
    WHEN 'deployment' THEN CASE coalesce("status", '')
      WHEN '' THEN ARRAY['active', 'updating', 'stopped', 'failed']
      WHEN 'active' THEN ARRAY['updating', 'stopped', 'failed']
      WHEN 'updating' THEN ARRAY['active', 'failed', 'stopped']
      WHEN 'stopped' THEN ARRAY['updating']
      WHEN 'failed' THEN ARRAY['updating', 'stopped']
    END
    WHEN 'run' THEN CASE "status"
      WHEN 'queued' THEN ARRAY['running', 'cancelled']
      WHEN 'running' THEN ARRAY['waiting', 'succeeded', 'failed', 'cancelling']
      WHEN 'waiting' THEN ARRAY['running', 'failed', 'cancelled']
      WHEN 'cancelling' THEN ARRAY['cancelled', 'failed']
    END
  END
$$;
--> statement-breakpoint
CREATE FUNCTION "check_transition"("kind" text, "old_status" text, "new_status" text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF "new_status" = ANY (next_statuses("kind", "old_status")) THEN RETURN; END IF;
  RAISE EXCEPTION 'a % does not become % from %', "kind", "new_status", coalesce("old_status", 'nothing')
    USING ERRCODE = '23514', CONSTRAINT = "kind" || 's_transition';
END
$$;
--> statement-breakpoint
CREATE FUNCTION "check_same_spec"("spec" integer, "kind" text, "record" integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "other" integer;
BEGIN
  IF "spec" IS NULL OR "record" IS NULL THEN RETURN; END IF;
  EXECUTE format('SELECT spec_id FROM %I WHERE id = $1', "kind") INTO "other" USING "record";
  IF "other" <> "spec" THEN
    RAISE EXCEPTION 'a record of one spec does not refer to a record of another' USING ERRCODE = '23514', CONSTRAINT = 'same_spec';
  END IF;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "apply_build_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "build" builds%ROWTYPE;
BEGIN
  SELECT * INTO "build" FROM builds WHERE id = NEW.build_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NEW; END IF;
  NEW.previous_status := NULL;
  IF NEW.new_status IS NOT NULL THEN
    PERFORM check_transition('build', "build".status, NEW.new_status);
    NEW.previous_status := "build".status;
  END IF;
  UPDATE builds SET
    status = coalesce(NEW.new_status, status),
    phase = NEW.phase,
    started_at = CASE WHEN NEW.new_status IS NULL THEN started_at ELSE coalesce(started_at, NEW.created_at) END,
    completed_at = CASE WHEN NEW.new_status IN ('completed', 'failed', 'cancelled') THEN NEW.created_at ELSE completed_at END
  WHERE id = NEW.build_id;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "apply_deployment_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "deployment" deployments%ROWTYPE;
BEGIN
  SELECT * INTO "deployment" FROM deployments WHERE id = NEW.deployment_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NEW; END IF;
  PERFORM check_same_spec("deployment".spec_id, 'builds', NEW.build_id);
  NEW.previous_status := NULL;
  IF NEW.new_status IS NULL THEN RETURN NEW; END IF;
  PERFORM check_transition('deployment', "deployment".status, NEW.new_status);
  NEW.previous_status := "deployment".status;
  UPDATE deployments SET
    status = NEW.new_status,
    status_message = NEW.message,
    first_deployed_at = CASE WHEN NEW.new_status = 'active' THEN coalesce(first_deployed_at, NEW.created_at) ELSE first_deployed_at END,
    last_deployed_at = CASE WHEN NEW.new_status = 'active' THEN NEW.created_at ELSE last_deployed_at END
  WHERE id = NEW.deployment_id;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "apply_run_event"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "run" runs%ROWTYPE;
BEGIN
  SELECT * INTO "run" FROM runs WHERE id = NEW.run_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NEW; END IF;
  PERFORM check_transition('run', "run".status, NEW.new_status);
  NEW.previous_status := "run".status;
  UPDATE runs SET
    status = NEW.new_status,
    started_at = coalesce(started_at, NEW.created_at),
    completed_at = CASE WHEN NEW.new_status IN ('succeeded', 'failed', 'cancelled') THEN NEW.created_at ELSE completed_at END
  WHERE id = NEW.run_id;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "apply_spec_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE specs SET latest_version = NEW.version_number, updated_at = greatest(updated_at, NEW.created_at)
  WHERE id = NEW.spec_id AND latest_version = NEW.version_number - 1;
  IF FOUND THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'versions of a spec are numbered one by one' USING ERRCODE = '23514', CONSTRAINT = 'spec_versions_in_order';
END
$$;
--> statement-breakpoint
CREATE TRIGGER "spec_versions_apply" BEFORE INSERT ON "spec_versions" FOR EACH ROW EXECUTE FUNCTION "apply_spec_version"();
--> statement-breakpoint
CREATE TRIGGER "build_events_apply" BEFORE INSERT ON "build_events" FOR EACH ROW EXECUTE FUNCTION "apply_build_event"();
--> statement-breakpoint
CREATE TRIGGER "deployment_events_apply" BEFORE INSERT ON "deployment_events" FOR EACH ROW EXECUTE FUNCTION "apply_deployment_event"();
--> statement-breakpoint
CREATE TRIGGER "run_events_apply" BEFORE INSERT ON "run_events" FOR EACH ROW EXECUTE FUNCTION "apply_run_event"();
--> statement-breakpoint
CREATE TRIGGER "build_events_rows_stay" BEFORE UPDATE OR DELETE ON "build_events" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "deployment_events_rows_stay" BEFORE UPDATE OR DELETE ON "deployment_events" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "run_events_rows_stay" BEFORE UPDATE OR DELETE ON "run_events" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "spec_versions_rows_stay" BEFORE UPDATE OR DELETE ON "spec_versions" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "build_events_stay" BEFORE TRUNCATE ON "build_events" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "deployment_events_stay" BEFORE TRUNCATE ON "deployment_events" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "run_events_stay" BEFORE TRUNCATE ON "run_events" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "spec_versions_stay" BEFORE TRUNCATE ON "spec_versions" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE FUNCTION "refuse_by_hand"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % rows say follows from the rows that are added for them', TG_TABLE_NAME USING ERRCODE = '23001';
END
$$;
--> statement-breakpoint
-- A record begins in its first state; its events alone move it on, from triggers, one level down.
CREATE TRIGGER "builds_begin" BEFORE INSERT ON "builds" FOR EACH ROW
  WHEN (NEW.status <> 'pending' OR num_nonnulls(NEW.phase, NEW.started_at, NEW.completed_at) > 0) EXECUTE FUNCTION "refuse_by_hand"();
--> statement-breakpoint
CREATE TRIGGER "deployments_begin" BEFORE INSERT ON "deployments" FOR EACH ROW
  WHEN (num_nonnulls(NEW.status, NEW.status_message, NEW.first_deployed_at, NEW.last_deployed_at) > 0) EXECUTE FUNCTION "refuse_by_hand"();
--> statement-breakpoint
CREATE TRIGGER "runs_begin" BEFORE INSERT ON "runs" FOR EACH ROW
  WHEN (NEW.status <> 'queued' OR num_nonnulls(NEW.started_at, NEW.completed_at) > 0) EXECUTE FUNCTION "refuse_by_hand"();
--> statement-breakpoint
CREATE TRIGGER "specs_begin" BEFORE INSERT ON "specs" FOR EACH ROW
  WHEN (NEW.latest_version <> 0) EXECUTE FUNCTION "refuse_by_hand"();
--> statement-breakpoint
CREATE TRIGGER "builds_follow" BEFORE UPDATE OF "id", "owner_id", "spec_id", "spec_version_id", "status", "phase", "created_at", "started_at", "completed_at"
  ON "builds" FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION "refuse_by_hand"();
--> statement-breakpoint
CREATE TRIGGER "deployments_follow" BEFORE UPDATE OF "id", "owner_id", "spec_id", "status", "status_message", "first_deployed_at", "last_deployed_at"
  ON "deployments" FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION "refuse_by_hand"();
--> statement-breakpoint
CREATE TRIGGER "runs_follow" BEFORE UPDATE OF "id", "owner_id", "status", "attempt", "retry_of_id", "created_at", "started_at", "completed_at"
  ON "runs" FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION "refuse_by_hand"();
--> statement-breakpoint
CREATE TRIGGER "specs_follow" BEFORE UPDATE OF "id", "owner_id", "latest_version", "created_at"
  ON "specs" FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION "refuse_by_hand"();
--> statement-breakpoint
CREATE FUNCTION "check_references"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'deployments' THEN
    PERFORM check_same_spec(NEW.spec_id, 'builds', NEW.current_build_id);
  ELSE
    PERFORM check_same_spec(NEW.spec_id, 'deployments', NEW.deployment_id);
  END IF;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "deployments_references" BEFORE INSERT OR UPDATE OF "current_build_id" ON "deployments"
  FOR EACH ROW EXECUTE FUNCTION "check_references"();
--> statement-breakpoint
CREATE TRIGGER "runs_references" BEFORE INSERT OR UPDATE OF "spec_id", "deployment_id" ON "runs"
  FOR EACH ROW EXECUTE FUNCTION "check_references"();
--> statement-breakpoint
CREATE FUNCTION "check_begun"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'specs' AND EXISTS (SELECT FROM specs WHERE id = NEW.id AND latest_version = 0)
    OR TG_TABLE_NAME = 'deployments' AND EXISTS (SELECT FROM deployments WHERE id = NEW.id AND status IS NULL) THEN
    RAISE EXCEPTION 'a spec has a version, a deployment an event' USING ERRCODE = '23514', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "specs_begun" AFTER INSERT ON "specs" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_begun"();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER "deployments_begun" AFTER INSERT ON "deployments" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_begun"();
--> statement-breakpoint
CREATE FUNCTION "check_share"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "owner" integer;
BEGIN
  EXECUTE format('SELECT owner_id FROM %I WHERE id = $1', TG_ARGV[0]) INTO "owner" USING NEW.record_id;
  IF "owner" = NEW.user_id THEN
    RAISE EXCEPTION 'nothing is shared with its owner' USING ERRCODE = '23514', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "spec_shares_check" BEFORE INSERT ON "spec_shares" FOR EACH ROW EXECUTE FUNCTION "check_share"('specs');
--> statement-breakpoint
CREATE TRIGGER "build_shares_check" BEFORE INSERT ON "build_shares" FOR EACH ROW EXECUTE FUNCTION "check_share"('builds');
--> statement-breakpoint
CREATE TRIGGER "deployment_shares_check" BEFORE INSERT ON "deployment_shares" FOR EACH ROW EXECUTE FUNCTION "check_share"('deployments');
--> statement-breakpoint
CREATE TRIGGER "run_shares_check" BEFORE INSERT ON "run_shares" FOR EACH ROW EXECUTE FUNCTION "check_share"('runs');
--> statement-breakpoint
CREATE FUNCTION "count_owned"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE record_blocks known SET records = known.records - gone.records
    FROM (SELECT owner_id AS account, id >> 10 AS block, count(*) AS records FROM changed GROUP BY 1, 2) gone
    WHERE known.kind = TG_ARGV[0] AND known.user_id = gone.account AND known.block = gone.block;
  ELSE
    INSERT INTO record_blocks AS known (kind, user_id, block, records)
    SELECT TG_ARGV[0], owner_id, id >> 10, count(*) FROM changed GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (kind, user_id, block) DO UPDATE SET records = known.records + excluded.records;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION "count_shared"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE record_blocks known SET records = known.records - gone.records
    FROM (SELECT user_id AS account, record_id >> 10 AS block, count(*) AS records FROM changed GROUP BY 1, 2) gone
    WHERE known.kind = TG_ARGV[0] AND known.user_id = gone.account AND known.block = gone.block;
  ELSE
    INSERT INTO record_blocks AS known (kind, user_id, block, records)
    SELECT TG_ARGV[0], user_id, record_id >> 10, count(*) FROM changed GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (kind, user_id, block) DO UPDATE SET records = known.records + excluded.records;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "specs_count_added" AFTER INSERT ON "specs" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_owned"('specs');
--> statement-breakpoint
CREATE TRIGGER "specs_count_deleted" AFTER DELETE ON "specs" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_owned"('specs');
--> statement-breakpoint
CREATE TRIGGER "spec_shares_count_added" AFTER INSERT ON "spec_shares" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_shared"('specs');
--> statement-breakpoint
CREATE TRIGGER "spec_shares_count_deleted" AFTER DELETE ON "spec_shares" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_shared"('specs');
--> statement-breakpoint
CREATE TRIGGER "spec_shares_rows_stay" BEFORE UPDATE ON "spec_shares" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "spec_shares_stay" BEFORE TRUNCATE ON "spec_shares" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "builds_count_added" AFTER INSERT ON "builds" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_owned"('builds');
--> statement-breakpoint
CREATE TRIGGER "builds_count_deleted" AFTER DELETE ON "builds" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_owned"('builds');
--> statement-breakpoint
CREATE TRIGGER "build_shares_count_added" AFTER INSERT ON "build_shares" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_shared"('builds');
--> statement-breakpoint
CREATE TRIGGER "build_shares_count_deleted" AFTER DELETE ON "build_shares" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_shared"('builds');
--> statement-breakpoint
CREATE TRIGGER "build_shares_rows_stay" BEFORE UPDATE ON "build_shares" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "build_shares_stay" BEFORE TRUNCATE ON "build_shares" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "deployments_count_added" AFTER INSERT ON "deployments" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_owned"('deployments');
--> statement-breakpoint
CREATE TRIGGER "deployments_count_deleted" AFTER DELETE ON "deployments" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_owned"('deployments');
--> statement-breakpoint
CREATE TRIGGER "deployment_shares_count_added" AFTER INSERT ON "deployment_shares" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_shared"('deployments');
--> statement-breakpoint
CREATE TRIGGER "deployment_shares_count_deleted" AFTER DELETE ON "deployment_shares" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_shared"('deployments');
--> statement-breakpoint
CREATE TRIGGER "deployment_shares_rows_stay" BEFORE UPDATE ON "deployment_shares" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "deployment_shares_stay" BEFORE TRUNCATE ON "deployment_shares" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "runs_count_added" AFTER INSERT ON "runs" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_owned"('runs');
--> statement-breakpoint
CREATE TRIGGER "runs_count_deleted" AFTER DELETE ON "runs" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_owned"('runs');
--> statement-breakpoint
CREATE TRIGGER "run_shares_count_added" AFTER INSERT ON "run_shares" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_shared"('runs');
--> statement-breakpoint
CREATE TRIGGER "run_shares_count_deleted" AFTER DELETE ON "run_shares" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_shared"('runs');
--> statement-breakpoint
CREATE TRIGGER "run_shares_rows_stay" BEFORE UPDATE ON "run_shares" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "run_shares_stay" BEFORE TRUNCATE ON "run_shares" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
