import { LRUCache } from "lru-cache"

/** Whose work it is. */
export type Owner = {
  /** An account, a job's account or an address. Each has few places. */
  readonly name: string
  /** Who share their cost: an account and its jobs, all agents, all anonymous readers. Agents and addresses cost nothing to get. */
  readonly group: string
}

const maxWaiting = 32
export const maxWaitingPerOwner = 4
const halfLifeMs = 60_000
// More than can wait, and of each the newest.
const maxKnown = 1000

/** The owner of an account's requests. */
export const accountOwner = ({ userId, kind }: { readonly userId: number; readonly kind: string }): Owner => ({
  name: `user:${userId}`,
  group: kind === "agent" ? "agents" : `user:${userId}`,
})

/** The owner of an account's jobs. */
export const jobOwner = (userId: number): Owner => ({ name: `job:${userId}`, group: `user:${userId}` })

/** The owner of what a reader without a key asks for. */
export const readerOwner = (address: string): Owner => ({ name: `reader ${address}`, group: "anonymous" })

/**
 * Tasks that wait. Next is the task of the group that cost least in the last minutes, and in it of the owner that did. When all
 * places are taken, the group that cost most gives way, not whoever comes last.
 * @param now a monotonic clock, in milliseconds
 */
export const createQueue = <T extends { readonly owner: Owner }>(now: () => number) => {
  const waiting: T[] = []
  const costs = new LRUCache<string, { readonly ms: number; readonly at: number }>({ max: maxKnown })

  const costOf = (name: string): number => {
    const { ms = 0, at = 0 } = costs.get(name) ?? {}
    return ms * 0.5 ** ((now() - at) / halfLifeMs)
  }
  const countOf = (part: keyof Owner, owner: Owner): number =>
    waiting.filter((one) => one.owner[part] === owner[part]).length
  const weights = ({ owner }: T): readonly number[] => [
    costOf(`group ${owner.group}`),
    countOf("group", owner),
    costOf(owner.name),
    countOf("name", owner),
  ]
  /** Of two equal ones the later one. */
  const heaviest = (): T | undefined => {
    const weighed = waiting.map((task) => ({ task, weight: weights(task) }))
    return weighed.toSorted((a, b) => compare(a.weight, b.weight)).at(-1)?.task
  }

  const remove = (task: T | undefined): boolean => {
    const at = task === undefined ? -1 : waiting.indexOf(task)
    if (at >= 0) waiting.splice(at, 1)
    return at >= 0
  }

  return {
    /** Adds a task. Returns the one that has no place, which may be another one. */
    add: (task: T): { readonly task: T; readonly isOwn: boolean } | undefined => {
      if (countOf("name", task.owner) >= maxWaitingPerOwner) return { task, isOwn: true }
      waiting.push(task)
      const refused = waiting.length > maxWaiting ? heaviest() : undefined
      remove(refused)
      return refused && { task: refused, isOwn: false }
    },
    /** Removes and returns the next task. */
    next: (): T | undefined => {
      const weighed = waiting.map((task) => ({
        task,
        weight: [costOf(`group ${task.owner.group}`), costOf(task.owner.name)],
      }))
      const first = weighed.toSorted((a, b) => compare(a.weight, b.weight))[0]?.task
      remove(first)
      return first
    },
    remove,
    /** Adds to what an owner and its group cost. */
    charge: ({ name, group }: Owner, ms: number): void => {
      for (const one of [name, `group ${group}`]) costs.set(one, { ms: costOf(one) + ms, at: now() })
    },
  }
}

const compare = (a: readonly number[], b: readonly number[]): number => {
  const at = a.findIndex((weight, index) => weight !== b[index])
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}
