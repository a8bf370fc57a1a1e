import { Worker } from "node:worker_threads"
import { AstTooLarge, type DocumentPath } from "../registry/ast/document-fault.ts"
import { sizeOf, type StoredAst } from "../registry/stack-bytes.ts"
import { type InputOf, type OutputOf, type TaskName, tasks } from "./tasks.ts"

export type Request = { readonly task: TaskName; readonly input: unknown }
export type Reply =
  | { readonly output: unknown }
  | { readonly tooLarge: { readonly segments: DocumentPath; readonly reason: string } }
  /** An unexpected error. */
  | { readonly stack: string }

/** Too much work is waiting. Nothing was done, so the caller can retry. */
export class CompilerBusy extends Error {
  override readonly name = "CompilerBusy"
  /** Whether only this owner's own work is waiting. */
  readonly isOwn: boolean

  constructor(isOwn: boolean) {
    super("too many ASTs are waiting to be processed")
    this.isOwn = isOwn
  }
}

// Input of this size takes a few milliseconds, whatever it contains.
export const smallBytes = 8 * 1024
const maxWaiting = 32
export const maxWaitingPerOwner = 4
const memory = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }

type Waiting = {
  readonly request: Request
  readonly resolve: (output: never) => void
  readonly reject: (error: Error) => void
}

/** @param deadlineMs after which a task and its thread are ended */
export const createCompiler = ({ deadlineMs }: { readonly deadlineMs: number }) => {
  // In the order in which owners arrive. The first owner's first task is next.
  const waiting = new Map<string, Waiting[]>()
  let thread: Worker | undefined
  let current: Waiting | undefined
  let deadline: NodeJS.Timeout | undefined

  const settle = (finish: (task: Waiting) => void): void => {
    clearTimeout(deadline)
    const task = current
    current = undefined
    if (task !== undefined) finish(task)
    next()
  }

  const drop = (worker: Worker): void => {
    if (thread !== worker) return
    thread = undefined
    void worker.terminate()
    settle(({ reject }) => reject(new AstTooLarge([], "takes too much work")))
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
    const [first] = waiting
    if (current !== undefined || first === undefined) return
    const [owner, own] = first
    current = own.shift()
    // The owner goes to the end of the queue.
    waiting.delete(owner)
    if (own.length > 0) waiting.set(owner, own)
    const worker = (thread ??= start())
    deadline = setTimeout(() => drop(worker), deadlineMs)
    worker.postMessage(current?.request)
  }

  return {
    /**
     * Runs a task on another thread, one at a time, alternating between owners. Throws AstTooLarge, also when a task
     * takes too long or too much memory, and CompilerBusy.
     * @param size of the JSON input, in bytes; small input is processed at once
     * @param owner an account, or one name for all anonymous readers
     */
    run: async <K extends TaskName>(
      task: K,
      input: InputOf<K>,
      { size, owner }: { readonly size: number; readonly owner: string },
    ): Promise<OutputOf<K>> => {
      if (size <= smallBytes) return (tasks[task] as (given: InputOf<K>) => OutputOf<K>)(input)
      const own = waiting.get(owner) ?? []
      const isOwn = own.length >= maxWaitingPerOwner
      if (isOwn || [...waiting.values()].flat().length >= maxWaiting) throw new CompilerBusy(isOwn)
      return new Promise((resolve, reject) => {
        own.push({ request: { task, input }, resolve, reject })
        waiting.set(owner, own)
        next()
      })
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
export const diffOf = (compiler: Compiler, before: StoredAst, after: StoredAst, owner: string) =>
  compiler.run("diff", { before, after }, { size: sizeOf(before) + sizeOf(after), owner })
