import type { ComponentChildren } from "preact"

export type TableProps = {
  readonly label: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
  /** What is said in place of an empty table. */
  readonly empty: string
  readonly readMore?: (() => void) | undefined
}

/** A table that scrolls, and on a narrow screen becomes blocks. */
export const Table = ({ label, heads, rows, empty, readMore }: TableProps) =>
  rows.length === 0 ? (
    <p class="muted">{empty}</p>
  ) : (
    <>
      <div class="table" tabIndex={0} role="region" aria-label={label}>
        <table>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells, row) => (
              <tr key={row}>
                {cells.map((cell, index) => (
                  <td key={index} data-label={heads[index]}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {readMore !== undefined && (
        <button type="button" onClick={readMore}>
          Show more
        </button>
      )}
    </>
  )
