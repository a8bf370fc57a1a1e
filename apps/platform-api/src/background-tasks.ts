/** Runs recurring background work. A round ends before the next one starts. An outage is logged once. */
export const startBackgroundTasks = (
  log: { readonly info: (message: string) => void; readonly warn: (details: object, message: string) => void },
  tasks: readonly (readonly [everyMs: number, work: () => Promise<unknown>])[],
) => {
  // The outage ends when the work that failed succeeds: other work may not have used the database.
  const failing = new Set<() => Promise<unknown>>()
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
      if (failing.delete(work) && failing.size === 0) log.info("the database is back")
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (failing.size === 0) log.warn({ reason }, "the database can't be used")
      failing.add(work)
    }
  }
  const timers = tasks.map(([everyMs, work]) => {
    let running = false
    const round = async (): Promise<void> => {
      if (running) return
      running = true
      await attempt(work)
      running = false
    }
    return setInterval(() => void round(), everyMs)
  })
  return () => timers.forEach((timer) => clearInterval(timer))
}
