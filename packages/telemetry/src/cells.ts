import type { Attributes } from "@opentelemetry/api"

/** What an instrument has counted under one set of attributes. */
export type Cell<T> = { readonly attributes: Attributes; readonly since: number; readonly counted: T }

/** Where the next attribute leads: mostly all have the same name there. */
type Branch<T> = {
  cell: Cell<T> | undefined
  name: string | undefined
  readonly values: Map<unknown, Branch<T>>
  /** Of other names. */
  readonly others: Map<string, Map<unknown, Branch<T>>>
}

const none: Attributes = {}
// The SDK's own bound, and what it does beyond it.
const most = 2000
const overflow: Attributes = { "otel.metric.overflow": true }

const branch = <T>(): Branch<T> => ({ cell: undefined, name: undefined, values: new Map(), others: new Map() })

/**
 * The cells of an instrument. One that is known is found by its attributes' values, without the list, the sorting and the
 * JSON that the SDK makes of them for each measurement.
 */
export const createCells = <T>(empty: () => T) => {
  const root = branch<T>()
  const cells = new Map<string, Cell<T>>()

  const cellOf = (attributes: Attributes): Cell<T> => {
    const sorted = (of: Attributes): string =>
      JSON.stringify(Object.entries(of).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const name = sorted(attributes)
    const known = cells.get(name)
    if (known !== undefined) return known
    if (cells.size >= most - 1 && attributes !== overflow) return cellOf(overflow)
    const cell = { attributes: { ...attributes }, since: Date.now(), counted: empty() }
    cells.set(name, cell)
    return cell
  }

  const learn = (attributes: Attributes): Cell<T> => {
    const cell = cellOf(attributes)
    // What overflows, and lists, are looked up anew each time: remembered they would grow without end.
    if (cell.attributes["otel.metric.overflow"] === true) return cell
    let at = root
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "object") return cell
      at.name ??= name
      let values = at.name === name ? at.values : at.others.get(name)
      if (values === undefined) at.others.set(name, (values = new Map()))
      let next = values.get(value)
      if (next === undefined) values.set(value, (next = branch()))
      at = next
    }
    at.cell = cell
    return cell
  }

  return {
    of: (attributes: Attributes = none): T => {
      let at: Branch<T> | undefined = root
      for (const name in attributes) {
        at = (at.name === name ? at.values : at.others.get(name))?.get(attributes[name])
        if (at === undefined) return learn(attributes).counted
      }
      return (at.cell ?? learn(attributes)).counted
    },
    all: (): Iterable<Cell<T>> => cells.values(),
  }
}
