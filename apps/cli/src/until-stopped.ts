import type { Context } from "./command.ts"

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
