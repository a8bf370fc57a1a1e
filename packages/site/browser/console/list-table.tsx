import { Failure } from "./failure.tsx"
import { Table, type TableProps } from "../table.tsx"
import type { Listing } from "./use-read.ts"

type Props = Omit<TableProps, "readMore"> & {
  readonly list: Pick<Listing<unknown>, "items" | "error" | "readMore">
}

export const NotRead = () => (
  <p class="muted" role="status">
    Reading…
  </p>
)

/** A list's rows, once they are there, and how reading it failed. */
export const ListTable = ({ list: { items, error, readMore }, ...table }: Props) => (
  <>
    <Failure error={error} isRead={items === undefined} />
    {error === undefined && items === undefined && <NotRead />}
    {items !== undefined && <Table {...table} readMore={readMore} />}
  </>
)
