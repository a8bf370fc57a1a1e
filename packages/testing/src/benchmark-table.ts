export type Goal = { readonly atLeast: number } | { readonly atMost: number }

export type BenchmarkTable = {
  /** One measured value; without a goal it is for information only. */
  readonly add: (what: string, value: number, unit: string, goal?: Goal) => void
  /** The table as Markdown. */
  readonly text: () => string
  /** Whether no goal was missed. */
  readonly met: () => boolean
}

const digits = (value: number): string => (value >= 100 ? String(Math.round(value)) : value.toFixed(2))

/** A table of measured values and their goals. */
export const createBenchmarkTable = (): BenchmarkTable => {
  const rows: { cells: string[]; met: boolean }[] = []
  return {
    add: (what, value, unit, goal) => {
      // A value that is no number has met nothing.
      const met = goal === undefined || ("atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost)
      const wanted = goal === undefined ? "" : "atLeast" in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`
      rows.push({ cells: [what, `${digits(value)} ${unit}`.trim(), wanted, met ? "" : "missed"], met })
    },
    text: () => {
      const lines = [["Measured", "Value", "Goal", ""], ["---", "---", "---", "---"], ...rows.map(({ cells }) => cells)]
      return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")
    },
    met: () => rows.every((row) => row.met),
  }
}
