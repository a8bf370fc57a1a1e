import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"

export type TableProps = {
  readonly label: string
  readonly heads: readonly string[]
  /** Numbers stand below one another, at the right. */
  readonly rows: readonly (readonly ComponentChildren[])[]
  /** What each row is about, where rows can go. */
  readonly ids?: readonly string[]
  /** What is said in place of an empty table. */
  readonly empty: string
  readonly readMore?: (() => void) | undefined
}

const alignOf = (cell: ComponentChildren): "right" | undefined => (typeof cell === "number" ? "right" : undefined)

/** A table that scrolls, and on a narrow screen becomes blocks. It takes the focus of a row that goes. */
export const Table = ({ label, heads, rows, ids, empty, readMore }: TableProps) => {
  const place = useRef<HTMLDivElement & HTMLParagraphElement>(null)
  const held = place.current?.contains(document.activeElement) === true ? document.activeElement : undefined
  useLayoutEffect(() => {
    if (held?.isConnected === false) place.current?.focus({ preventScroll: true })
  })
  const more = readMore !== undefined && (
    <button type="button" onClick={readMore}>
      Show more
    </button>
  )
  return rows.length === 0 ? (
    <>
      <p class="muted" tabIndex={-1} ref={place}>
        {empty}
      </p>
      {more}
    </>
  ) : (
    <div class="table" tabIndex={0} ref={place} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((head, index) => (
              <th key={head} scope="col" class={alignOf(rows[0]?.[index])}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={ids?.[row] ?? row}>
              {cells.map((cell, index) => (
                <td key={index} data-label={heads[index]} class={alignOf(cell)}>
                  {typeof cell === "number" ? cell.toLocaleString() : cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </div>
  )
}
