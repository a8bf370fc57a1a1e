import type { Context } from "./command.ts"

/** Runs to its end whatever the system says: a signal would lose a key that nobody can get again. A second one ends the process. */
export const despiteSignals = <Value>(
  { onInterrupt }: Pick<Context, "onInterrupt">,
  run: () => Promise<Value>,
): Promise<Value> => run().finally(onInterrupt(() => {}))

/** Runs with a signal that aborts when the user interrupts, or after so many seconds. */
export const untilStopped = async <Value>(
  { onInterrupt }: Pick<Context, "onInterrupt">,
  seconds: number | undefined,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> => {
  const leaving = new AbortController()
  const stop = (): void => leaving.abort()
  const timer = seconds === undefined ? undefined : setTimeout(stop, seconds * 1000)
  const undo = onInterrupt(stop)
  try {
    return await run(leaving.signal)
  } finally {
    clearTimeout(timer)
    undo()
  }
}
