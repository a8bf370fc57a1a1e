/** The table of one kind of record. */
type RecordTable = "specs" | "builds" | "deployments" | "runs"

/** The table of its shares. */
const sharesOf = (table: RecordTable): string => `${table.slice(0, -1)}_shares`

/** Rows of deleted specs and deployments stay for records that refer to them, but nobody can read them. */
const alive = (table: RecordTable, prefix: string): string =>
  table === "specs" || table === "deployments" ? ` and ${prefix}deleted_at is null` : ""

/**
 * SQL for the ids of one page that account $1 can read, newest first: limit $2, offset $3. The counts per block of 1024
 * ids tell where to start, so the last page of a million costs about as much as the first. Both indexes are read in
 * order, no further than the page.
 */
export const pageOfVisible = (table: RecordTable): string => {
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
    ${from("id", table, "owner_id", alive(table, ""))} union all ${from("record_id", sharesOf(table), "user_id")}
    order by id desc limit $2 offset (select skip from begin)`
}

/**
 * SQL for the records of that page: `columns` of `from`, where the record has the alias `name`. "offset 0" makes the
 * planner look up each record instead of joining whole tables first.
 */
export const listVisible = (table: RecordTable, columns: string, from: string, name: string): string => `
  select record.* from (${pageOfVisible(table)}) page
  cross join lateral (select ${columns} from ${from} where ${name}.id = page.id offset 0) record order by record.id desc`

/** SQL for whether account $1 can read the record with id $2 and the alias `name`. */
export const isVisible = (table: RecordTable, name: string): string => `
  ${name}.id = $2${alive(table, `${name}.`)} and (${name}.owner_id = $1 or exists (select from ${sharesOf(table)} where user_id = $1 and record_id = $2))`
