/** The tables of one kind of record, and of who sees it besides its owner. */
type RecordTables = {
  readonly table: "specs" | "builds" | "deployments" | "runs"
  readonly shares: "spec_shares" | "build_shares" | "deployment_shares" | "run_shares"
}

/**
 * SQL for the ids of one page of what account $1 sees, newest first: $2 rows after the first $3. Both branches come from
 * an index in order and are merged, so a page costs as much as the rows before it in two indexes, however many follow.
 */
export const pageOfVisible = ({ table, shares }: RecordTables): string => `
  select id from ${table} where owner_id = $1
  union all
  select record_id from ${shares} where user_id = $1
  order by 1 desc limit $2 offset $3`

/** SQL for whether account $1 sees the record of id $2, which `name` stands for. */
export const isVisible = ({ shares }: RecordTables, name: string): string => `
  ${name}.id = $2 and (${name}.owner_id = $1 or exists (select from ${shares} where user_id = $1 and record_id = $2))`
