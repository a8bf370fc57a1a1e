import { withSql } from "./with-sql.ts"

type Load = {
  readonly agents: number
  readonly keysPerAgent: number
  /** Builds of the one agent that has most; every other agent has one. */
  readonly builds: number
  /** Records of each kind that are shared with the second agent. */
  readonly shared: number
}

/**
 * Fills a migrated, empty database in the shortest way: without checking the constraints, which the data keeps by
 * construction. Needs a superuser.
 */
export const loadDatabase = (url: string, { agents, keysPerAgent, builds, shared }: Load): Promise<void> =>
  withSql(url, async (sql) => {
    const run = (text: string) => sql.unsafe(text)
    await run("set session_replication_role = replica")
    await run("set synchronous_commit = off")
    await run(`insert into users (kind, created_at) select 'agent', now() from generate_series(1, ${agents})`)
    await run(`
      insert into agent_profiles (user_id, slug, display_name, created_at, last_seen_at)
      select i, 'agt_' || lpad(to_hex(i), 10, '0'), 'Agent ' || i, now(), now() from generate_series(1, ${agents}) i`)
    await run(`
      insert into api_keys (user_id, key_hash, key_class, prefix, last_four, name, created_at)
      select i, sha256(convert_to(i || ' ' || n, 'UTF8')), 'secret', 'svc_ak_', 'abcd', 'signup', now()
      from generate_series(1, ${agents}) i, generate_series(1, ${keysPerAgent}) n`)
    await run(`
      insert into specs (owner_id, name, entity_name, url_slug, latest_version, created_at, updated_at)
      select owner, 'Spec', 'Thing', 'spec', 1, now(), now()
      from (select i as owner from generate_series(1, ${agents}) i union all select 1 from generate_series(1, ${builds} / 4)) owners`)
    await run(`
      insert into spec_versions (spec_id, version_number, content_hash, state_name, handler_count, section_count, created_at, schema, ast_gzip)
      select id, 1, repeat('0', 64), 'Thing', 1, 1, now(), '{"stack_name":"S","entities":[],"types":[]}', '' from specs`)
    await run(`
      insert into builds (owner_id, spec_id, spec_version_id, status, phase, progress, status_message, websocket_url, created_at, started_at, completed_at)
      select o, o, o, 'completed', 'DEPLOY', 100, 'Done', 'wss://streams.example/spec', now(), now(), now()
      from (
        select i as o from generate_series(2, ${agents}) i
        union all select 1 from generate_series(1, ${builds})
      ) owners order by random()`)
    await run(`
      insert into build_events (build_id, event_type, phase, previous_status, new_status, created_at)
      select id, 'status', 'DEPLOY', 'deploying', 'completed', now() from builds`)
    await run(`
      insert into deployments (owner_id, spec_id, stack_name, status, websocket_url, current_build_id, first_deployed_at, last_deployed_at)
      select owner_id, s.id, 'main', 'active', 'wss://streams.example/spec', b.id, now(), now()
      from (select id, owner_id, row_number() over (partition by owner_id order by id) as n from specs) s
      join (select id, owner_id, row_number() over (partition by owner_id order by id) as n from builds) b using (owner_id, n)
      where owner_id = 1 or b.id % 4 = 0`)
    await run(`
      insert into deployment_events (deployment_id, event_type, new_status, actor, created_at)
      select id, 'status', 'active', 'system', now() from deployments, generate_series(1, 3)`)
    await run(`
      insert into runs (owner_id, spec_id, spec_version_id, workflow, status, trigger, attempt, created_at, started_at, completed_at)
      select owner_id, spec_id, spec_version_id, 'nightly', 'succeeded', 'schedule', 1, now(), now(), now() from builds where id % 4 = 0`)
    await run(`
      insert into run_steps (run_id, position, name, status) select id, n, 'step', 'succeeded' from runs, generate_series(1, 3) n`)
    for (const [kind, shares] of [
      ["specs", "spec_shares"],
      ["builds", "build_shares"],
      ["deployments", "deployment_shares"],
      ["runs", "run_shares"],
    ]) {
      await run(
        `insert into ${shares} (user_id, record_id) select 2, id from ${kind} where owner_id <> 2 order by id limit ${shared}`,
      )
      await run(`
        insert into record_blocks (kind, user_id, block, records)
        select '${kind}', account, id >> 10, count(*)
        from (select owner_id as account, id from ${kind} union all select user_id, record_id from ${shares}) seen
        group by 2, 3`)
    }
    // Sees to the statistics and to the visibility map, as autovacuum does in time.
    await run("vacuum analyze")
  })

/** Gives a person a spec, and so many keys, specs, builds, deployments and runs that are over. Returns the ids that remain. */
export const loadHistory = (url: string, person: number, count: number) =>
  withSql(url, async (sql) => {
    const run = (text: string) => sql.unsafe<{ id: number }[]>(text)
    await run("set session_replication_role = replica")
    await run("set synchronous_commit = off")
    await run(`
      insert into api_keys (user_id, key_hash, key_class, prefix, last_four, name, created_at, expires_at)
      select ${person}, sha256(convert_to('over ' || n, 'UTF8')), 'secret', 'svc_sk_', 'abcd', 'over', now(), now()
      from generate_series(1, ${count}) n`)
    const spec = (n: number, name: string, deletedAt: string) => `
      insert into specs (owner_id, name, entity_name, url_slug, latest_version, created_at, updated_at, deleted_at)
      select ${person}, '${name}', 'Thing', '${name}', 1, now(), now(), ${deletedAt} from generate_series(1, ${n}) returning id`
    await run(spec(count, "past", "now()"))
    const [{ id: specId } = { id: 0 }] = await run(spec(1, "history", "null"))
    await run(`
      insert into stack_names (name, owner_id, line, freed_at)
      select 'history-' || n, ${person}, 'spec:-' || n, now() from generate_series(1, ${count}) n`)
    const [{ id: version } = { id: 0 }] = await run(`
      insert into spec_versions (spec_id, version_number, content_hash, state_name, handler_count, section_count, created_at, schema, ast_gzip)
      select ${specId}, n, repeat('0', 64), 'Thing', 1, 1, now(), '{"stack_name":"S","entities":[],"types":[]}', ''
      from generate_series(1, 2) n returning id`)
    const ended = "now(), now(), now() from"
    const built = await run(`
      insert into builds (owner_id, spec_id, spec_version_id, status, created_at, started_at, completed_at)
      select ${person}, ${specId}, ${version} + n % 2, 'completed', ${ended} generate_series(1, ${count}) n returning id`)
    await run(`
      insert into runs (owner_id, spec_id, spec_version_id, workflow, status, trigger, attempt, created_at, started_at, completed_at)
      select ${person}, ${specId}, ${version}, 'publish', 'succeeded', 'manual', 1, ${ended} generate_series(1, ${count})`)
    const deployed = (n: number, deletedAt: string) => `
      insert into deployments (owner_id, spec_id, stack_name, status, websocket_url, current_build_id, deleted_at)
      select ${person}, ${specId}, 'history', 'active', 'wss://streams.example/history', ${built.at(-1)?.id}, ${deletedAt}
      from generate_series(1, ${n}) returning id`
    await run(deployed(count, "now()"))
    const [{ id: deployment } = { id: 0 }] = await run(deployed(1, "null"))
    await run(`
      insert into deployment_events (deployment_id, event_type, new_status, build_id, actor, created_at)
      select ${deployment}, 'status', 'active', id, 'system', now() from builds where spec_id = ${specId}`)
    for (const kind of ["specs", "deployments"])
      await run(`
        insert into record_blocks (kind, user_id, block, records)
        select '${kind}', ${person}, id >> 10, count(*) filter (where deleted_at is null) from ${kind} where owner_id = ${person} group by 3`)
    await run("vacuum analyze")
    return { specId, deployment }
  })

/** Publishes a stack again, under other names, up to `count` stacks. */
export const loadStacks = (url: string, count: number, name: string): Promise<void> =>
  withSql(url, async (sql) => {
    // The time in a gzip header is free to differ: the bytes of no two stacks are the same, as with real ones.
    const apart = (column: string) => `set_byte(set_byte(${column}, 4, i % 256), 5, i / 256)`
    await sql.unsafe(`
      insert into stacks (name, description, websocket_url, visibility, relay, browser_send, version, content_hash, revision,
        created_at, updated_at, detail, schema, schema_gzip, ast_gzip)
      select name || '-' || i, description, websocket_url || '-' || i, visibility, relay, browser_send, 1, content_hash,
        revision + i, created_at, updated_at, replace(detail, '"' || name || '"', '"' || name || '-' || i || '"'), schema,
        ${apart("schema_gzip")}, ${apart("ast_gzip")}
      from stacks, generate_series(1, ${count - 1}) i where name = '${name}'`)
    await sql.unsafe("update registry_state set revision = (select max(revision) from stacks)")
  })
