import { make } from "../dom.ts"

type Health = {
  readonly stacks?: Readonly<Record<string, { readonly entities?: Readonly<Record<string, number>> }>>
}

const everyMs = 5000

const readCounts = async (url: string): Promise<ReadonlyMap<string, number> | undefined> => {
  try {
    const health: Health = await (await fetch(url, { signal: AbortSignal.timeout(everyMs) })).json()
    return new Map(
      Object.entries(health.stacks ?? {}).map(([name, { entities = {} }]) => [
        name,
        Object.values(entities).reduce((sum, count) => sum + count, 0),
      ]),
    )
  } catch {
    return undefined
  }
}

/** Adds to the table of stacks whether data flows now, as far as the stream server tells. */
export const addFlow = (place: HTMLElement): void => {
  const table = document.querySelector("article table")
  table?.querySelector("thead tr")?.append(make("th", { scope: "col" }, "Records now"))
  const cells = [...(table?.querySelectorAll("tbody tr") ?? [])].map((row) => {
    const cell = make("td", { "data-label": "Records now" }, "…")
    row.append(cell)
    return { name: row.querySelector("a")?.textContent ?? "", cell }
  })
  const look = async (): Promise<void> => {
    const counts = await readCounts(place.dataset["health"] ?? "")
    for (const { name, cell } of cells) {
      const count = counts?.get(name)
      const text = count === undefined ? "not known" : count === 0 ? "none yet" : count.toLocaleString()
      if (cell.textContent !== text) cell.textContent = text
    }
  }
  void look()
  setInterval(() => {
    if (!document.hidden) void look()
  }, everyMs)
}
