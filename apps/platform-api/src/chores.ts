/** Work beside the requests, again and again; one round is over before the next begins. An outage is told once. */
export const startChores = (
  log: { readonly info: (message: string) => void; readonly warn: (details: object, message: string) => void },
  chores: readonly (readonly [everyMs: number, work: () => Promise<unknown>])[],
) => {
  // What failed has to succeed itself before the outage is over: other work may have had nothing to ask.
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
  const timers = chores.map(([everyMs, work]) => {
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
