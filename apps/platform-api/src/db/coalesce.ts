/**
 * Runs work once at a time, however often it is asked for: who asks during a run has it run once more, because it may have read
 * what is older than the news, and waits for that too. Rejects as the work does.
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
