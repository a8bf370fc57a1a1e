import { LRUCache } from "lru-cache"
import { Worker } from "node:worker_threads"
import { AstTooLarge, type DocumentPath } from "../registry/ast/document-fault.ts"
import { sizeOf, type StoredAst } from "../registry/stack-bytes.ts"
import { type InputOf, type OutputOf, type TaskName, tasks } from "./tasks.ts"

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

export const accountOwner = ({ userId, kind }: { readonly userId: number; readonly kind: string }): Owner => ({
  name: `user:${userId}`,
  group: kind === "agent" ? "agents" : `user:${userId}`,
})

export const jobOwner = (userId: number): Owner => ({ name: `job:${userId}`, group: `user:${userId}` })

/** The owner of what a reader without a key asks for. */
export const readerOwner = (address: string): Owner => ({ name: `reader ${address}`, group: "anonymous" })

/**
 * Tasks that wait. Next is the task of the group that cost least in the last minutes, and in it of the owner that did. When all
 * places are taken, the group that cost most gives way, not whoever comes last.
 * @param now a monotonic clock, in milliseconds
 */
const createQueue = <T extends { readonly owner: Owner }>(now: () => number) => {
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
  /** The tasks by ascending weight, equal ones as they came. */
  const sorted = (weigh: (task: T) => readonly number[]): readonly T[] =>
    waiting
      .map((task) => ({ task, weight: weigh(task) }))
      .toSorted((a, b) => compare(a.weight, b.weight))
      .map(({ task }) => task)

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
      const refused = waiting.length > maxWaiting ? sorted(weights).at(-1) : undefined
      remove(refused)
      return refused && { task: refused, isOwn: false }
    },
    /** Removes and returns the next task. */
    next: (): T | undefined => {
      const [first] = sorted(({ owner }) => [costOf(`group ${owner.group}`), costOf(owner.name)])
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

export type Request = { readonly task: TaskName; readonly input: unknown }
export type Reply =
  | { readonly output: unknown }
  | { readonly tooLarge: { readonly segments: DocumentPath; readonly reason: string } }
  /** An unexpected error. */
  | { readonly stack: string }

/** Too much work is waiting. Nothing was done, so the caller can retry. */
export class CompilerBusy extends Error {
  /** Whether only this owner's own work is waiting. */
  readonly isOwn: boolean

  constructor(isOwn: boolean) {
    super("too many ASTs are waiting to be processed")
    this.isOwn = isOwn
  }
}

// Input of this size takes a few milliseconds, whatever it contains.
export const smallBytes = 8 * 1024
const memory = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }
// A new thread costs more than what is left of most tasks.
const graceMs = 500

type Waiting = {
  readonly owner: Owner
  readonly request: Request
  readonly resolve: (output: never) => void
  readonly reject: (error: Error) => void
}

export type About = {
  /** The size of the JSON input, in bytes. Small input is processed at once. */
  readonly size: number
  readonly owner: Owner
  /** Aborted when nobody waits for the result any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * @param deadlineMs after which a task and its thread are ended
 * @param now a monotonic clock, in milliseconds
 */
export const createCompiler = ({ deadlineMs, now }: { readonly deadlineMs: number; readonly now: () => number }) => {
  const queue = createQueue<Waiting>(now)
  let thread: Worker | undefined
  let current: Waiting | undefined
  let began = 0
  let deadline: NodeJS.Timeout | undefined

  const settle = (finish: (task: Waiting) => void): void => {
    clearTimeout(deadline)
    const task = current
    current = undefined
    if (task !== undefined) {
      queue.charge(task.owner, now() - began)
      finish(task)
    }
    next()
  }

  const drop = (worker: Worker, reason: Error = new AstTooLarge([], "takes too much work")): void => {
    if (thread !== worker) return
    thread = undefined
    void worker.terminate()
    settle(({ reject }) => reject(reason))
  }

  const start = (): Worker => {
    const worker = new Worker(new URL("thread.ts", import.meta.url), { resourceLimits: memory })
    worker.on("message", (reply: Reply) => {
      if (thread !== worker) return
      settle(({ resolve, reject }) => {
        if ("output" in reply) resolve(reply.output as never)
        else if ("tooLarge" in reply) reject(new AstTooLarge(reply.tooLarge.segments, reply.tooLarge.reason))
        else reject(new Error(reply.stack))
      })
    })
    // An idle thread doesn't keep the process alive.
    worker.unref()
    // The thread ran out of memory or crashed.
    worker.on("error", () => drop(worker))
    worker.on("exit", () => drop(worker))
    return worker
  }

  const next = (): void => {
    if (current !== undefined) return
    current = queue.next()
    if (current === undefined) return
    const worker = (thread ??= start())
    began = now()
    deadline = setTimeout(drop, deadlineMs, worker)
    worker.postMessage(current.request)
  }

  const abandon = (task: Waiting): void => {
    const reason = new CompilerBusy(true)
    if (queue.remove(task)) return task.reject(reason)
    if (task !== current || thread === undefined) return
    clearTimeout(deadline)
    deadline = setTimeout(drop, graceMs, thread, reason)
  }

  return {
    /**
     * Runs a task on another thread, one at a time: next is the task of whoever has cost least lately. Throws AstTooLarge, also
     * when a task takes too long or too much memory, and CompilerBusy.
     */
    run: async <K extends TaskName>(
      task: K,
      input: InputOf<K>,
      { size, owner, signal }: About,
    ): Promise<OutputOf<K>> => {
      if (size <= smallBytes) return (tasks[task] as (given: InputOf<K>) => OutputOf<K>)(input)
      const { promise, resolve, reject } = Promise.withResolvers<OutputOf<K>>()
      const waiting: Waiting = { owner, request: { task, input }, resolve, reject }
      const refused = queue.add(waiting)
      refused?.task.reject(new CompilerBusy(refused.isOwn))
      next()
      const leave = (): void => abandon(waiting)
      signal?.addEventListener("abort", leave)
      return promise.finally(() => signal?.removeEventListener("abort", leave))
    },
    close: async (): Promise<void> => {
      const worker = thread
      thread = undefined
      clearTimeout(deadline)
      await worker?.terminate()
    },
  }
}

export type Compiler = ReturnType<typeof createCompiler>

/** The difference between two versions. Throws AstTooLarge and CompilerBusy. */
export const diffOf = (compiler: Compiler, before: StoredAst, after: StoredAst, about: Omit<About, "size">) =>
  compiler.run("diff", { before, after }, { size: sizeOf(before) + sizeOf(after), ...about })
