-- What the tables in 0000_tables.sql can't say: first rows, and triggers that hold whoever changes a row.

-- First rows

INSERT INTO registry_state (id, revision) VALUES (1, 0);
--> statement-breakpoint
INSERT INTO key_secrets (id, secret) VALUES (1, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
--> statement-breakpoint
-- Rows that are only added

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% rows are only ever added', TG_TABLE_NAME USING ERRCODE = '23001';
END
$$;
--> statement-breakpoint
DO $$
DECLARE
  kept text;
BEGIN
  FOREACH kept IN ARRAY ARRAY['spec_versions', 'build_events', 'deployment_events', 'run_events', 'stack_versions'] LOOP
    EXECUTE format('CREATE TRIGGER rows_stay BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', kept);
    EXECUTE format('CREATE TRIGGER stays BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', kept);
  END LOOP;
END
$$;
--> statement-breakpoint
-- Old rows of the audit log may go, if the owner of the table asks for it in the same transaction.
CREATE FUNCTION guard_audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('svc.prune_audit', true) = 'on'
    AND pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% rows are only ever added', TG_TABLE_NAME USING ERRCODE = '23001';
END
$$;
--> statement-breakpoint
CREATE TRIGGER rows_stay BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION guard_audit_row();
--> statement-breakpoint
CREATE TRIGGER stays BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
-- Keys

CREATE FUNCTION guard_api_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.key_hash <> OLD.key_hash OR NEW.user_id <> OLD.user_id OR NEW.prefix <> OLD.prefix THEN
    RAISE EXCEPTION 'a key stays what it is' USING ERRCODE = '23001';
  END IF;
  IF OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at THEN
    RAISE EXCEPTION 'a revoked key stays revoked' USING ERRCODE = '23001';
  END IF;
  IF OLD.replaced_by IS NOT NULL AND (NEW.replaced_by IS NULL OR NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at) THEN
    RAISE EXCEPTION 'a replaced key stays replaced and does not live longer' USING ERRCODE = '23001';
  END IF;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER guard BEFORE UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION guard_api_key();
--> statement-breakpoint
-- Streams that a key opened end soon after it is revoked.
CREATE FUNCTION announce_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('svc_keys', '');
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER announce AFTER UPDATE OF revoked_at, disabled_at, expires_at ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION announce_key_change();
--> statement-breakpoint
CREATE TRIGGER announce AFTER UPDATE OF status ON agent_profiles FOR EACH STATEMENT EXECUTE FUNCTION announce_key_change();
--> statement-breakpoint
-- Life cycles: a record's status, phase and times follow from its events. The tables of events have checks on the transitions.

CREATE FUNCTION check_same_spec(spec integer, kind text, record integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  other integer;
BEGIN
  IF spec IS NULL OR record IS NULL THEN RETURN; END IF;
  EXECUTE format('SELECT spec_id FROM %I WHERE id = $1', kind) INTO other USING record;
  IF other <> spec THEN
    RAISE EXCEPTION 'a record of one spec does not refer to a record of another' USING ERRCODE = '23514', CONSTRAINT = 'same_spec';
  END IF;
END
$$;
--> statement-breakpoint
CREATE FUNCTION apply_build_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  build builds%ROWTYPE;
BEGIN
  SELECT * INTO build FROM builds WHERE id = NEW.build_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NEW; END IF;
  NEW.previous_status := CASE WHEN NEW.new_status IS NOT NULL THEN build.status END;
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
CREATE TRIGGER apply BEFORE INSERT ON build_events FOR EACH ROW EXECUTE FUNCTION apply_build_event();
--> statement-breakpoint
CREATE FUNCTION apply_deployment_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  deployment deployments%ROWTYPE;
BEGIN
  SELECT * INTO deployment FROM deployments WHERE id = NEW.deployment_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NEW; END IF;
  PERFORM check_same_spec(deployment.spec_id, 'builds', NEW.build_id);
  NEW.previous_status := CASE WHEN NEW.new_status IS NOT NULL THEN deployment.status END;
  IF NEW.new_status IS NULL THEN RETURN NEW; END IF;
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
CREATE TRIGGER apply BEFORE INSERT ON deployment_events FOR EACH ROW EXECUTE FUNCTION apply_deployment_event();
--> statement-breakpoint
CREATE FUNCTION apply_run_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  run runs%ROWTYPE;
BEGIN
  SELECT * INTO run FROM runs WHERE id = NEW.run_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NEW; END IF;
  NEW.previous_status := run.status;
  UPDATE runs SET
    status = NEW.new_status,
    started_at = coalesce(started_at, NEW.created_at),
    completed_at = CASE WHEN NEW.new_status IN ('succeeded', 'failed', 'cancelled') THEN NEW.created_at ELSE completed_at END
  WHERE id = NEW.run_id;
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER apply BEFORE INSERT ON run_events FOR EACH ROW EXECUTE FUNCTION apply_run_event();
--> statement-breakpoint
CREATE FUNCTION apply_spec_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE specs SET latest_version = NEW.version_number, updated_at = greatest(updated_at, NEW.created_at)
  WHERE id = NEW.spec_id AND latest_version = NEW.version_number - 1;
  IF FOUND THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'versions of a spec are numbered one by one' USING ERRCODE = '23514', CONSTRAINT = 'spec_versions_in_order';
END
$$;
--> statement-breakpoint
CREATE TRIGGER apply BEFORE INSERT ON spec_versions FOR EACH ROW EXECUTE FUNCTION apply_spec_version();
--> statement-breakpoint
-- A record begins in its first state. Afterwards only the triggers above, one level down, set what follows from its events.
CREATE FUNCTION refuse_by_hand() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % rows say follows from the rows that are added for them', TG_TABLE_NAME USING ERRCODE = '23001';
END
$$;
--> statement-breakpoint
CREATE TRIGGER begin BEFORE INSERT ON specs FOR EACH ROW
  WHEN (NEW.latest_version <> 0) EXECUTE FUNCTION refuse_by_hand();
--> statement-breakpoint
CREATE TRIGGER begin BEFORE INSERT ON builds FOR EACH ROW
  WHEN (NEW.status <> 'pending' OR num_nonnulls(NEW.phase, NEW.started_at, NEW.completed_at) > 0) EXECUTE FUNCTION refuse_by_hand();
--> statement-breakpoint
CREATE TRIGGER begin BEFORE INSERT ON deployments FOR EACH ROW
  WHEN (num_nonnulls(NEW.status, NEW.status_message, NEW.first_deployed_at, NEW.last_deployed_at) > 0) EXECUTE FUNCTION refuse_by_hand();
--> statement-breakpoint
CREATE TRIGGER begin BEFORE INSERT ON runs FOR EACH ROW
  WHEN (NEW.status <> 'queued' OR num_nonnulls(NEW.started_at, NEW.completed_at) > 0) EXECUTE FUNCTION refuse_by_hand();
--> statement-breakpoint
CREATE TRIGGER follow BEFORE UPDATE OF id, owner_id, latest_version, created_at
  ON specs FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_by_hand();
--> statement-breakpoint
CREATE TRIGGER follow BEFORE UPDATE OF id, owner_id, spec_id, spec_version_id, status, phase, created_at, started_at, completed_at
  ON builds FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_by_hand();
--> statement-breakpoint
CREATE TRIGGER follow BEFORE UPDATE OF id, owner_id, spec_id, status, status_message, first_deployed_at, last_deployed_at
  ON deployments FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_by_hand();
--> statement-breakpoint
CREATE TRIGGER follow BEFORE UPDATE OF id, owner_id, status, attempt, retry_of_id, created_at, started_at, completed_at
  ON runs FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_by_hand();
--> statement-breakpoint
CREATE FUNCTION check_begun() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM deployments WHERE id = NEW.id AND status IS NULL) THEN
    RAISE EXCEPTION 'a deployment has an event' USING ERRCODE = '23514', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER begun AFTER INSERT ON deployments DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_begun();
--> statement-breakpoint
CREATE FUNCTION check_references() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER refer BEFORE INSERT OR UPDATE OF current_build_id ON deployments FOR EACH ROW EXECUTE FUNCTION check_references();
--> statement-breakpoint
CREATE TRIGGER refer BEFORE INSERT OR UPDATE OF spec_id, deployment_id ON runs FOR EACH ROW EXECUTE FUNCTION check_references();
--> statement-breakpoint
CREATE TRIGGER stay_deleted BEFORE UPDATE ON specs FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL) EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER stay_deleted BEFORE UPDATE ON deployments FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL) EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
-- The event stream of a run

CREATE FUNCTION tell_run_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_changes (run_id, status) VALUES (NEW.run_id, NEW.new_status);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER tell AFTER INSERT ON run_events FOR EACH ROW EXECUTE FUNCTION tell_run_event();
--> statement-breakpoint
CREATE FUNCTION tell_run_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_changes (run_id, step, status) VALUES (NEW.run_id, NEW.name, NEW.status);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER tell AFTER UPDATE OF status ON run_steps FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION tell_run_step();
--> statement-breakpoint
-- Shares, and how many records each account sees in each block of ids

CREATE FUNCTION check_share() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_own boolean;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT FROM changed JOIN %I r ON r.id = record_id WHERE owner_id = user_id)', TG_ARGV[0]) INTO is_own;
  IF is_own THEN
    RAISE EXCEPTION 'nothing is shared with its owner' USING ERRCODE = '23514', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- Arguments: the kind of record, and the columns of the changed rows that hold the account and the record's id.
CREATE FUNCTION count_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('
    INSERT INTO record_blocks AS known (kind, user_id, block, records)
    SELECT %L, %I, %I >> 10, %s count(*) FROM changed GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (kind, user_id, block) DO UPDATE SET records = known.records + excluded.records',
    TG_ARGV[0], TG_ARGV[1], TG_ARGV[2], CASE TG_OP WHEN 'DELETE' THEN '-' ELSE '' END);
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- What is deleted stays for the records that name it, but counts in no list.
CREATE FUNCTION count_out() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE record_blocks SET records = records - 1
  WHERE kind = TG_ARGV[0] AND user_id = NEW.owner_id AND block = NEW.id >> 10;
  RETURN NULL;
END
$$;
--> statement-breakpoint
DO $$
DECLARE
  kind text;
  counted text[];
BEGIN
  FOREACH kind IN ARRAY ARRAY['spec', 'build', 'deployment', 'run'] LOOP
    FOREACH counted SLICE 1 IN ARRAY ARRAY[[kind || 's', 'owner_id', 'id'], [kind || '_shares', 'user_id', 'record_id']] LOOP
      EXECUTE format('CREATE TRIGGER count_added AFTER INSERT ON %I REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION count_records(%L, %L, %L)', counted[1], kind || 's', counted[2], counted[3]);
      EXECUTE format('CREATE TRIGGER count_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION count_records(%L, %L, %L)', counted[1], kind || 's', counted[2], counted[3]);
    END LOOP;
    EXECUTE format('CREATE TRIGGER check_share AFTER INSERT ON %I REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION check_share(%L)', kind || '_shares', kind || 's');
    EXECUTE format('CREATE TRIGGER rows_stay BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', kind || '_shares');
    EXECUTE format('CREATE TRIGGER stays BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', kind || '_shares');
  END LOOP;
  FOREACH kind IN ARRAY ARRAY['specs', 'deployments'] LOOP
    EXECUTE format('CREATE TRIGGER count_out AFTER UPDATE OF deleted_at ON %I FOR EACH ROW
      WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION count_out(%L)', kind, kind);
  END LOOP;
END
$$;
--> statement-breakpoint
-- Stacks: every version that was ever served is kept. The column line is generated, so the trigger runs after it has a value.

CREATE FUNCTION keep_stack_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stack_versions (line, number, content_hash, published_at, schema_gzip, ast_gzip, verdict, bump, changes, message)
  VALUES (NEW.line, NEW.version, NEW.content_hash, NEW.updated_at, NEW.schema_gzip, NEW.ast_gzip, NEW.verdict, NEW.bump, NEW.changes, NEW.message)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER keep_version AFTER INSERT OR UPDATE OF version ON stacks FOR EACH ROW EXECUTE FUNCTION keep_stack_version();
