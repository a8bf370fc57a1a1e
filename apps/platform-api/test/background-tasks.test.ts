import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { startBackgroundTasks } from "../src/background-tasks.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test("an outage of the database is logged once at its start and once at its end, however many tasks fail", async () => {
  const told: string[] = []
  const log = {
    info: (message: string) => void told.push(message),
    warn: (_: object, message: string) => void told.push(message),
  }
  let away = false
  const ask = () => (away ? Promise.reject(new Error("away")) : Promise.resolve())
  const stop = startBackgroundTasks(log, [
    [1000, ask],
    [1000, () => Promise.resolve()],
    [3000, () => ask()],
  ])
  await vi.advanceTimersByTimeAsync(5000)
  expect(told).toEqual([])
  away = true
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told).toEqual(["the database can't be used"])
  away = false
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told).toEqual(["the database can't be used", "the database is back"])
  stop()
})
