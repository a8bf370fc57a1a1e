import type { ServerContext } from "@modelcontextprotocol/server"
import { SvcError } from "@svc/client"
import { z } from "zod"
import type { Context } from "../command.ts"
import { CliError } from "../errors.ts"
import { untilStopped } from "../until-stopped.ts"

/** What a call of a tool is given. */
export type Call = {
  /** The context for a command's function: its arguments, options, flags, and the bytes that it reads. */
  readonly context: (given?: Partial<Pick<Context, "args" | "options" | "flags" | "readInput">>) => Context
  /** Aborts when the client cancels the call or goes away. */
  readonly signal: AbortSignal
  /** Tells the client that the call goes on. */
  readonly progress: (message: string) => void
}

type Hints = { readonly readOnlyHint?: true; readonly destructiveHint?: boolean; readonly idempotentHint?: true }

/** A tool: when to use it, what it takes and returns, and what it does. Its result keeps only the members of `output`. */
export type Tool = {
  readonly name: string
  readonly description: string
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly annotations: Hints
  /** Throws invalid-arguments. */
  readonly run: (call: Call, args: unknown) => Promise<unknown>
}

/** A tool whose `run` gets checked arguments: those of `input`, and no others. */
export const defineTool = <Shape extends z.ZodRawShape>({
  input: shape,
  output,
  run,
  ...tool
}: Omit<Tool, "run" | "input" | "output"> & {
  readonly input: Shape
  readonly output: z.ZodRawShape
  readonly run: (call: Call, args: z.output<z.ZodObject<Shape>>) => Promise<unknown>
}): Tool => {
  const input = z.strictObject(shape)
  return {
    ...tool,
    input,
    output: z.object(output),
    run: async (call, args) => {
      const read = input.safeParse(args)
      if (read.success) return run(call, read.data)
      const faults = read.error.issues.map(({ path, message }) => [...path, message].join(": "))
      throw new CliError("invalid-arguments", `${faults.join("; ")}.`, {
        next: `${tool.name} takes ${Object.keys(shape).join(", ")}, as its definition describes them.`,
      })
    },
  }
}

export const readOnly: Hints = { readOnlyHint: true }
export const changesLittle: Hints = { destructiveHint: false }

const commandDefaults = { args: [], options: {}, flags: new Set<string>() }

/** How often a waiting call tells that it goes on. */
const beatMs = 10_000

/** What a call of a tool is given, made from the context of `svc mcp` and of the request. */
export const callOf = (base: Context, { mcpReq: { signal, notify, _meta } }: ServerContext) => {
  const token = _meta?.progressToken
  let progress = 0
  let last = "working"
  const tell = (message: string): void => {
    last = message
    if (token === undefined || signal.aborted) return
    progress += 1
    const params = { progressToken: token, progress, message }
    // A client that has gone away needs none.
    void notify({ method: "notifications/progress", params }).catch(() => {})
  }
  const beat = token === undefined ? undefined : setInterval(() => tell(last), beatMs)
  const call: Call = {
    signal,
    progress: tell,
    context: (given = {}) => ({
      ...base,
      ...commandDefaults,
      ...given,
      options: { ...base.options, ...given.options },
      format: "json",
      write: () => true,
      writeRecord: () => true,
      screen: () => undefined,
      progress: (text) => {
        if (text === "") return
        // A command that only follows a run ends here.
        signal.throwIfAborted()
        tell(text)
      },
      onInterrupt: (interrupted) => {
        if (signal.aborted) interrupted()
        signal.addEventListener("abort", interrupted)
        return () => signal.removeEventListener("abort", interrupted)
      },
    }),
  }
  return { call, end: () => clearInterval(beat) }
}

/** Runs with a signal that aborts after so long. Undefined if the time is up, or the client has cancelled the call. */
export const within = <Value>(call: Call, seconds: number, run: (signal: AbortSignal) => Promise<Value>) =>
  untilStopped(call.context(), seconds, run).catch((error: unknown) => {
    if (error instanceof SvcError && error.code === "aborted") return undefined
    throw error
  })
