import { DatabaseUnavailable, explain, hasCode, OutcomeUnknown, unavailable } from "../errors.ts"
import type { Session } from "./session.ts"
import { createSerialQueues } from "./serial-queues.ts"

/** A task's hold on a session. */
export type Lease = {
  /** Whether COMMIT has been sent and the server hasn't responded yet. */
  committing: boolean
  /** Whether another task can use the session even if this one fails. */
  reusable: boolean
}

type Work<T> = (session: Session, lease: Lease) => Promise<T>

type Task = Lease & {
  over: boolean
  readonly fail: (error: Error) => void
  /** Rejects once it has failed. The driver may leave a statement of a session that has ended without an end. */
  readonly failed: Promise<never>
}
type Place = { readonly session: Session; task: Task | undefined; since: number }
type Waiting = { readonly task: Task; readonly give: (place: Promise<Place>) => void }

const idleMs = 60_000
const closeMs = 1000

/**
 * A pool of sessions with time limits. If a task times out and no session has responded since it started, all of them
 * may be dead. They are destroyed, and new ones are opened one at a time until one succeeds, because a frozen server
 * must handle every connection attempt when it wakes.
 * @param most maximum number of sessions
 * @param now a monotonic clock, in milliseconds
 */
export const createLeases = (open: (onEnd: () => void) => Promise<Session>, most: number, now: () => number) => {
  const queues = createSerialQueues()
  const waiting: Waiting[] = []
  let places: readonly Place[] = []
  // A connection counts until it is also closed on this side.
  let connections = 0
  let respondedAt = now()
  let silent = false
  let closed: PromiseWithResolvers<void> | undefined

  const destroyAll = (): void => places.forEach(({ session }) => session.destroy())

  const dropEnded = (): void => {
    const ended = places.filter(({ session }) => session.hasEnded())
    places = places.filter((place) => !ended.includes(place))
    for (const { task } of ended) task?.fail(new DatabaseUnavailable("the connection to the database was lost"))
    if (connections === 0) closed?.resolve()
    serve()
  }
  const onEnd = (): void => {
    connections--
    dropEnded()
  }

  const openFor = async (task: Task): Promise<Place> => {
    connections++
    try {
      const place: Place = { session: await open(onEnd), task, since: now() }
      places = [...places, place]
      silent = false
      return place
    } catch (error) {
      // An error from the server is a response too.
      if (hasCode(error)) silent = false
      throw unavailable(error)
    } finally {
      serve()
    }
  }

  /** Gives idle sessions to waiting tasks, and opens new ones up to the maximum. */
  const serve = (): void => {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const { task, give } = first
      const idle = places.findLast((place) => place.task === undefined && !place.session.hasEnded())
      const mayOpen = closed === undefined && connections < (silent ? 1 : most)
      if (idle === undefined && !mayOpen && !task.over) return
      waiting.shift()
      if (task.over) {
        give(Promise.reject(new DatabaseUnavailable("no connection was free in time")))
      } else if (idle === undefined) {
        give(openFor(task))
      } else {
        idle.task = task
        give(Promise.resolve(idle))
      }
    }
  }

  const release = (place: Place): void => {
    if (place.task?.reusable === false) place.session.destroy()
    place.task = undefined
    place.since = now()
    serve()
    const stale = (one: Place): boolean => closed !== undefined || now() - one.since > idleMs
    for (const one of places) if (one.task === undefined && stale(one)) one.session.end()
  }

  const lend = async <T>(task: Task, work: Work<T>): Promise<T> => {
    const place = await new Promise<Place>((give) => {
      waiting.push({ task, give })
      serve()
    })
    respondedAt = now()
    try {
      if (task.over) throw new DatabaseUnavailable("no connection was free in time")
      task.reusable = false
      const result = await Promise.race([work(place.session, task), task.failed])
      task.reusable = true
      return result
    } catch (error) {
      throw task.committing ? new OutcomeUnknown(error) : explain(error)
    } finally {
      if (!place.session.hasEnded()) respondedAt = now()
      release(place)
    }
  }

  return {
    /**
     * Lends a session to one task until its deadline. A session that still owes a response then is destroyed. Rejects
     * with DatabaseUnavailable, OutcomeUnknown or the work's error.
     * @param deadline by the monotonic clock
     * @param queue tasks with the same name run one after the other, and wait without a session
     */
    take: async <T>(deadline: number, work: Work<T>, queue?: string): Promise<T> => {
      const started = now()
      const { promise: failed, reject } = Promise.withResolvers<never>()
      const task: Task = {
        committing: false,
        reusable: true,
        over: false,
        failed,
        fail: (error) => {
          task.over = true
          reject(task.committing ? new OutcomeUnknown(error) : error)
        },
      }
      const timer = setTimeout(
        () => {
          task.fail(new DatabaseUnavailable("the database didn't respond in time"))
          places.find((place) => place.task === task)?.session.destroy()
          if (respondedAt >= started) return
          silent = true
          destroyAll()
        },
        Math.max(0, deadline - started),
      )
      const lent = queue === undefined ? lend(task, work) : queues(queue, () => lend(task, work))
      try {
        return await Promise.race([lent, failed])
      } finally {
        clearTimeout(timer)
        // The caller already has an error.
        lent.catch(() => {})
      }
    },
    /** How many connections are open or being opened. */
    connections: (): number => connections,
    /** Ends every session: idle ones at once, others when their task ends, or after a second. */
    close: async (): Promise<void> => {
      closed = Promise.withResolvers()
      for (const { session, task } of places) if (task === undefined) session.end()
      dropEnded()
      const timer = setTimeout(destroyAll, closeMs)
      await closed.promise
      clearTimeout(timer)
    },
  }
}
