import { Failure } from "./failure.tsx"
import { Table, type TableProps } from "../table.tsx"
import type { Listing } from "./use-read.ts"

type Props = Omit<TableProps, "readMore"> & {
  readonly list: Pick<Listing<unknown>, "items" | "error" | "readMore">
}

/** A list's rows, once they are there, and how reading it failed. */
export const ListTable = ({ list: { items, error, readMore }, ...table }: Props) => (
  <>
    <Failure error={error} />
    {items !== undefined && <Table {...table} readMore={readMore} />}
  </>
)
