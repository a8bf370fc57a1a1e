/** The tables of one kind of record, and of who sees it besides its owner. */
type RecordTables = {
  readonly table: "specs" | "builds" | "deployments" | "runs"
  readonly shares: "spec_shares" | "build_shares" | "deployment_shares" | "run_shares"
}

/** Specs and deployments can be deleted: their rows stay for what tells of them, and nobody sees them. */
const alive = (table: RecordTables["table"], prefix: string): string =>
  table === "specs" || table === "deployments" ? ` and ${prefix}deleted_at is null` : ""

/**
 * SQL for the ids of one page of what account $1 sees, newest first: $2 rows after the first $3. Counts that the database
 * keeps of every 1024 ids tell where to begin, so that the last page of a million costs about what the first one does;
 * both indexes are then read in their order, no further than the page.
 */
export const pageOfVisible = ({ table, shares }: RecordTables): string => {
  const from = (what: string, source: string, account: string, condition = "") => `
    (select ${what} as id from ${source} where ${account} = $1 and ${what} < (select below from begin)${condition}
     order by ${what} desc limit $2::integer + (select skip from begin))`
  return `
    with begin as materialized (
      select (block + 1) * 1024 as below, $3::integer - (through - records)::integer as skip
      from (
        select block, records, sum(records) over (order by block desc rows unbounded preceding) as through
        from record_blocks where kind = '${table}' and user_id = $1
      ) counted
      where through > $3::integer order by block desc limit 1
    )
    ${from("id", table, "owner_id", alive(table, ""))} union all ${from("record_id", shares, "user_id")}
    order by id desc limit $2 offset (select skip from begin)`
}

/**
 * SQL for that page's records: `columns` of `from`, in which the record stands as `name`. "offset 0" keeps the planner
 * from joining whole tables first, so each record of the page is looked up by itself.
 */
export const listVisible = (tables: RecordTables, columns: string, from: string, name: string): string => `
  select record.* from (${pageOfVisible(tables)}) page
  cross join lateral (select ${columns} from ${from} where ${name}.id = page.id offset 0) record order by record.id desc`

/** SQL for whether account $1 sees the record of id $2, which `name` stands for. */
export const isVisible = ({ table, shares }: RecordTables, name: string): string => `
  ${name}.id = $2${alive(table, `${name}.`)} and (${name}.owner_id = $1 or exists (select from ${shares} where user_id = $1 and record_id = $2))`
