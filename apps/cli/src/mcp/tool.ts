import type { ServerContext, ToolAnnotations } from "@modelcontextprotocol/server"
import { SvcError } from "@svc/client"
import { defineTool as defineSharedTool, type Tool as SharedTool, ToolError } from "@svc/mcp"
import { z } from "zod"
import type { Context } from "../command.ts"
import { CliError } from "../errors.ts"
import { untilStopped } from "../until-stopped.ts"
import type { Following } from "./following.ts"

/** What a call of a tool is given. */
export type Call = {
  /** The context for a command's function: its arguments, options, flags, and the bytes that it reads. */
  readonly context: (given?: Partial<Pick<Context, "args" | "options" | "flags" | "readInput">>) => Context
  /** Aborts when the client cancels the call or goes away. */
  readonly signal: AbortSignal
  /** The views that this process follows. */
  readonly following: Following
  /** Tells the client that the call goes on. */
  readonly progress: (message: string) => void
  /** What the functions of commands have said beside their results, without the next step, which is for a shell. */
  readonly notes: ReadonlySet<string>
}

/** A tool's result, and its text where that isn't the same as JSON. */
export type Result = { readonly structured: object; readonly text?: string }

export type Tool = SharedTool<Call, Promise<Result>>

/** A value of a type, or one that JSON makes into it: read-only, with undefined for what is left out. */
type Given<T> = unknown extends T
  ? unknown
  : T extends readonly (infer Item)[]
    ? readonly Given<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Given<T[K]> | (object extends Pick<T, K> ? undefined : never) }
      : T

type Definition<Input extends z.ZodRawShape, Output extends z.ZodRawShape> = Pick<
  Tool,
  "name" | "description" | "annotations" | "untouched"
> & {
  readonly input: Input
  readonly output: Output
  /** What a service sends has the types that are generated from its document: a renamed field doesn't compile. */
  readonly run: (call: Call, args: z.output<z.ZodObject<Input>>) => Promise<Given<z.input<z.ZodObject<Output>>>>
}

/** A text, and what the functions of commands have said in this call. */
const withNotes = (text: string, { notes }: Call): string => [text, ...notes].filter((one) => one !== "").join(" ")

/** A tool whose result keeps only the members of `output`. If that has a hint, it says what the functions of commands have said too. */
export const defineTool = <Input extends z.ZodRawShape, Output extends z.ZodRawShape>({
  input,
  output: shape,
  run,
  ...tool
}: Definition<Input, Output>): Tool => {
  const output = z.object(shape)
  return defineSharedTool({ ...tool, input: z.strictObject(input), output }, async (call: Call, args) => {
    const isHinted = Object.hasOwn(shape, "hint")
    const ran = await run(call, args).catch((error: unknown) => {
      if (isHinted && error instanceof CliError) error.message = withNotes(error.message, call)
      throw error
    })
    const result = output.safeParse(ran)
    if (result.success) {
      const { hint = "" }: { readonly hint?: unknown } = result.data
      const hinted = isHinted ? withNotes(String(hint), call) : ""
      return { structured: { ...result.data, ...(hinted !== "" && { hint: hinted }) } }
    }
    const hint = "Ask a person to check that the versions of svc and of the services are the same: svc env."
    throw new ToolError("unexpected-answer", "A service's response hasn't the form that this version expects.", hint)
  })
}

export const readOnly: ToolAnnotations = { readOnlyHint: true }
export const changesLittle: ToolAnnotations = { destructiveHint: false }

const commandDefaults = { args: [], options: {}, flags: new Set<string>() }

/** How often a waiting call tells that it goes on. */
const beatMs = 10_000

/** What a call of a tool is given, made from the context of `svc mcp` and of the request. */
export const callOf = (base: Context, following: Following, { mcpReq: { signal, notify, _meta } }: ServerContext) => {
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
  const notes = new Set<string>()
  const call: Call = {
    signal,
    following,
    progress: tell,
    notes,
    context: (given = {}) => ({
      ...base,
      ...commandDefaults,
      ...given,
      options: { ...base.options, ...given.options },
      format: "json",
      write: () => true,
      writeRecord: () => true,
      taken: async () => {},
      screen: () => undefined,
      note: (line) => {
        base.note(line)
        notes.add(line.replace(/ ?Next: .*/, ""))
      },
      progress: (text) => {
        if (text === "") return
        // A command that only follows a run ends here.
        signal.throwIfAborted()
        tell(text)
      },
      onInterrupt: (interrupted) => {
        const stop = (): void => interrupted()
        if (signal.aborted) stop()
        signal.addEventListener("abort", stop)
        return () => signal.removeEventListener("abort", stop)
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
