import { withoutUnseen } from "@svc/common/foreign-text"
import type { Feed } from "./feed.ts"
import { leavesOf, numberText, timeOf } from "./values.ts"
import { Value } from "./value.tsx"

type ColumnsProps = {
  readonly all: readonly string[]
  readonly shown: readonly string[]
  readonly onChange: (shown: readonly string[]) => void
}

export const ColumnsMenu = ({ all, shown, onChange }: ColumnsProps) => (
  <details class="columns-menu">
    <summary>Columns</summary>
    <fieldset aria-label="Columns that are shown">
      {all.map((path) => (
        <label key={path}>
          <input
            type="checkbox"
            checked={shown.includes(path)}
            onChange={() => onChange(all.filter((one) => shown.includes(one) !== (one === path)))}
          />{" "}
          {path}
        </label>
      ))}
    </fieldset>
  </details>
)

const mostShown = 6
const secondary = /(?:^|[._])(?:slot|\w*index|\w*signature)$/

/** All paths that the records have, and those that a reader wants to see first. */
export const columnsOf = (records: ReadonlyMap<string, unknown>, most = mostShown) => {
  const rows = [...records].map(([key, record]) => ({ key, leaves: leavesOf(record) }))
  const all = [...new Set(rows.flatMap(({ leaves }) => [...leaves.keys()]))]
  const isTold = (path: string): boolean =>
    rows.some(({ key, leaves }) => leaves.get(path) != null && leaves.get(path) !== key)
  // The same amount in SOL stands beside its lamports.
  const isTwice = (path: string): boolean => path.endsWith("sol") && all.includes(path.replace(/sol$/, "lamports"))
  const first = all.filter((path) => isTold(path) && !secondary.test(path) && !isTwice(path)).slice(0, most)
  return { all, first: first.length === 0 ? all.slice(0, most) : first }
}

/** A class that starts the highlight anew with each change. */
const freshness = (mark: number | undefined): string => (mark === undefined ? "" : `fresh-${mark % 2}`)

/** The last part of a path, where no other column ends so. */
const headOf = (path: string, columns: readonly string[]): string => {
  const last = path.slice(path.lastIndexOf(".") + 1)
  return columns.some((one) => one !== path && one.endsWith(`.${last}`)) ? path : last
}

/** Numbers stand below one another, at the right; times don't. */
const alignOf = (path: string, value: unknown): string =>
  numberText(value) === undefined || timeOf(path, value) !== undefined ? "" : "right"

type Props = {
  readonly feed: Feed
  readonly records: ReadonlyMap<string, unknown>
  readonly columns: readonly string[]
  readonly isSmall: boolean
  readonly linkOf: (key: string) => string | undefined
}

const mostSmall = 10

/** The records of a view; what has just changed stands out. */
export const RecordsTable = ({ feed, records, columns, isSmall, linkOf }: Props) => {
  const rows = [...records].map(([key, record]) => ({ key, leaves: leavesOf(record) }))
  const aligned = new Map(
    columns.map((path) => [path, alignOf(path, rows.find(({ leaves }) => leaves.get(path) != null)?.leaves.get(path))]),
  )
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Records">
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            {columns.map((path) => (
              <th key={path} scope="col" title={path} class={aligned.get(path)}>
                {withoutUnseen(headOf(path, columns))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, leaves }) => {
            const marks = feed.marksOf(key)
            return (
              <tr key={key} class={freshness(marks.get(""))}>
                <td>
                  <Value path="key" value={key} most={isSmall ? mostSmall : undefined} href={linkOf(key)} />
                </td>
                {columns.map((path) => (
                  <td
                    key={path}
                    data-label={withoutUnseen(headOf(path, columns))}
                    class={`${aligned.get(path)} ${freshness(marks.get(path))}`}
                  >
                    <Value path={path} value={leaves.get(path)} most={isSmall ? mostSmall : undefined} />
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
