/**
 * Runs work at most once at a time. A call during a run starts one more run afterwards, because the current run may
 * have read old data, and waits for it. Rejects if the work does.
 */
export const coalesce = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  let again = false
  const run = async (): Promise<void> => {
    try {
      while (again) {
        again = false
        await work()
      }
    } finally {
      running = undefined
    }
  }
  return () => {
    again = true
    running ??= run()
    return running
  }
}
