CREATE FUNCTION "set_stack_viewers"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.viewers := array(
    SELECT NEW.owner_id WHERE NEW.owner_id IS NOT NULL
    UNION SELECT user_id FROM spec_shares WHERE record_id = NEW.spec_id ORDER BY 1
  );
  RETURN NEW;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "stacks_viewers" BEFORE INSERT OR UPDATE ON "stacks" FOR EACH ROW EXECUTE FUNCTION "set_stack_viewers"();
--> statement-breakpoint
UPDATE "stacks" SET "viewers" = '{}';
--> statement-breakpoint
-- Every change that readers notice is recorded, whichever release of the service makes it. Ids are revisions of the
-- registry, and raising one locks its row until the commit: no id ever becomes visible after a greater one.
CREATE FUNCTION "record_stack_change"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  levels CONSTANT text[] := ARRAY['private', 'global', 'public'];
  base registry_changes;
  one registry_changes;
  added registry_changes[] := '{}';
  old_level integer;
  new_level integer;
  old_version integer;
  old_deprecated jsonb;
  new_version boolean;
  next_id bigint;
BEGIN
  PERFORM pg_notify('svc_registry', '');
  base.at := clock_timestamp();
  base.verdict := 'none';
  base.bump := 'none';
  base.except_viewers := '{}';
  IF TG_OP = 'DELETE' THEN
    one := base;
    one.kind := 'withdrawn';
    one.stack := OLD.name;
    one.line := OLD.line;
    one.version := OLD.version;
    one.verdict := 'breaking';
    one.bump := 'major';
    one.visibility := OLD.visibility;
    one.viewers := OLD.viewers;
    added := added || one;
  ELSE
    base.stack := NEW.name;
    base.line := NEW.line;
    base.version := NEW.version;
    base.visibility := NEW.visibility;
    base.viewers := NEW.viewers;
    IF TG_OP = 'INSERT' THEN
      -- What readers had before it was withdrawn, if that is still known.
      SELECT version INTO old_version FROM registry_changes
      WHERE line = NEW.line AND stack = NEW.name ORDER BY id DESC LIMIT 1;
      new_version := true;
      next_id := NEW.revision;
    ELSE
      old_version := OLD.version;
      new_version := NEW.version <> OLD.version;
      old_deprecated := OLD.deprecated::jsonb - 'since';
      IF NEW.revision <> OLD.revision THEN next_id := NEW.revision; END IF;
    END IF;
    IF new_version THEN
      one := base;
      IF NEW.version = old_version THEN
        one.kind := 'restored';
      ELSE
        one.kind := CASE WHEN NEW.version < old_version THEN 'rolled-back' ELSE 'published' END;
        one.previous_version := old_version;
        -- The service corrects it where readers had another version than the one before.
        IF old_version IS NOT NULL THEN
          one.verdict := coalesce(NEW.verdict, 'none');
          one.bump := coalesce(NEW.bump, 'none');
        END IF;
        one.message := NEW.message;
      END IF;
      added := added || one;
    END IF;
    IF TG_OP = 'UPDATE' THEN
      old_level := array_position(levels, OLD.visibility);
      new_level := array_position(levels, NEW.visibility);
      IF NOT new_version
        AND (new_level > old_level OR (new_level = 1 AND old_level = 1 AND NOT NEW.viewers <@ OLD.viewers)) THEN
        one := base;
        one.kind := 'published';
        one.except_visibility := OLD.visibility;
        one.except_viewers := OLD.viewers;
        added := added || one;
      END IF;
      IF new_level < old_level OR (new_level = 1 AND old_level = 1 AND NOT OLD.viewers <@ NEW.viewers) THEN
        one := base;
        one.kind := 'withdrawn';
        one.verdict := 'breaking';
        one.bump := 'major';
        one.visibility := OLD.visibility;
        one.viewers := OLD.viewers;
        one.except_visibility := NEW.visibility;
        one.except_viewers := NEW.viewers;
        added := added || one;
      END IF;
    END IF;
    IF NEW.deprecated::jsonb - 'since' IS DISTINCT FROM old_deprecated THEN
      one := base;
      one.kind := CASE WHEN NEW.deprecated IS NULL THEN 'undeprecated' ELSE 'deprecated' END;
      one.message := NEW.deprecated::jsonb ->> 'message';
      one.successor := NEW.deprecated::jsonb ->> 'successor';
      added := added || one;
    END IF;
    -- Who sees a past change is decided by who sees the stack today.
    UPDATE registry_changes c SET visibility = NEW.visibility, viewers = NEW.viewers
    WHERE c.line = NEW.line AND c.kind <> 'withdrawn' AND (c.visibility <> NEW.visibility OR c.viewers <> NEW.viewers);
  END IF;
  FOREACH one IN ARRAY added LOOP
    IF next_id IS NULL THEN
      UPDATE registry_state SET revision = revision + 1 RETURNING revision INTO next_id;
    END IF;
    one.id := next_id;
    next_id := NULL;
    INSERT INTO registry_changes SELECT one.*;
  END LOOP;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "stacks_record_change" AFTER INSERT OR UPDATE OR DELETE ON "stacks" FOR EACH ROW EXECUTE FUNCTION "record_stack_change"();
--> statement-breakpoint
-- Streams that a key opened end soon after it is revoked.
CREATE FUNCTION "announce_key_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('svc_keys', '');
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "api_keys_announce" AFTER UPDATE OF "revoked_at", "disabled_at", "expires_at" ON "api_keys" FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_change"();
--> statement-breakpoint
CREATE TRIGGER "agent_profiles_announce" AFTER UPDATE OF "status" ON "agent_profiles" FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_change"();
--> statement-breakpoint
-- Old rows of the audit trail may go, where the tables' owner says so in the same transaction.
CREATE FUNCTION "guard_audit_row"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('svc.prune_audit', true) = 'on'
    AND pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% rows are only ever added', TG_TABLE_NAME USING ERRCODE = '23001';
END
$$;
--> statement-breakpoint
CREATE OR REPLACE TRIGGER "audit_log_rows_stay" BEFORE UPDATE OR DELETE ON "audit_log" FOR EACH ROW EXECUTE FUNCTION "guard_audit_row"();
