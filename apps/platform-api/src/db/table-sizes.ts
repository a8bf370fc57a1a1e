/** Tables that grow with what agents and people do, as an array of PostgreSQL. */
export const growingTables =
  "{users,agent_profiles,api_keys,audit_log,registry_changes,stack_versions,spec_versions,builds,build_events,deployment_events,runs,run_steps,run_events,run_changes,idempotency_keys,signups}"

export type TableSize = { readonly table: string; readonly rows: number; readonly bytes: number }

// The planner's estimates: counting would read every row.
export const sizesSql = `
  select relname as table, greatest(reltuples, 0)::float8 as rows, pg_total_relation_size(oid)::float8 as bytes
  from pg_class where relkind = 'r' and pg_table_is_visible(oid) and relname = any($1::text[])`
