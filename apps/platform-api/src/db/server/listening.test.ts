import fc from "fast-check"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createListening } from "./listening.ts"
import type { Session } from "./session.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A server of sessions that open, fail and end when they are told to. */
const startSessions = () => {
  let unclosed = 0
  let most = 0
  let current: { readonly open: () => void; readonly end: () => void } | undefined
  const open: Parameters<typeof createListening>[0] = ({ first, onNotice, onEnd }) => {
    most = Math.max(most, ++unclosed)
    const heard = new Set(first.split("; ").map((text) => text.replace("listen ", "")))
    const { promise, resolve, reject } = Promise.withResolvers<Session>()
    let ended = false
    const end = (): void => {
      if (ended) return
      ended = true
      reject(new Error("ended"))
      queueMicrotask(() => {
        unclosed--
        onEnd()
      })
    }
    const session = {
      ask: async (text: string) => {
        if (ended) throw new Error("ended")
        heard.add(text.replace("listen ", ""))
      },
      destroy: end,
    } as unknown as Session
    current = { open: () => resolve(session), end }
    notify = (channel) => void (!ended && heard.has(channel) && onNotice(channel))
    return promise
  }
  let notify = (_channel: string): void => {}
  return {
    open,
    answer: () => current?.open(),
    end: () => current?.end(),
    notify: (channel: string) => notify(channel),
    most: () => most,
  }
}

test("as channels are added and sessions open, fail or end, one connection hears every channel in the end", async () => {
  const steps = fc.array(fc.constantFrom("listen", "answer", "end", "second"), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(steps, async (order) => {
      const sessions = startSessions()
      const listening = createListening(sessions.open)
      const heard = new Map<string, number>()
      for (const step of ["listen", ...order]) {
        if (step === "listen") {
          const channel = `channel${heard.size}`
          heard.set(channel, 0)
          listening.listen(channel, () => heard.set(channel, (heard.get(channel) ?? 0) + 1))
        } else if (step === "second") {
          await vi.advanceTimersByTimeAsync(1000)
        } else {
          sessions[step === "answer" ? "answer" : "end"]()
          await vi.advanceTimersByTimeAsync(0)
        }
      }
      await vi.advanceTimersByTimeAsync(1000)
      sessions.answer()
      await vi.advanceTimersByTimeAsync(0)
      const before = new Map(heard)
      for (const channel of heard.keys()) sessions.notify(channel)
      for (const [channel, calls] of heard) expect(calls).toBe((before.get(channel) ?? 0) + 1)
      expect(sessions.most()).toBe(1)
      listening.end()
    }),
  )
})
