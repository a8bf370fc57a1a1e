import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type Tool as ListedTool,
  type ToolAnnotations,
} from "@modelcontextprotocol/server"
import { isObject } from "@svc/common/json-object"
import { closeTo } from "@svc/common/nearest"
import type { z } from "zod"
import { readArguments } from "./arguments.ts"
import { type JsonSchema, listedSchema } from "./schema.ts"

type Definition<Input extends z.ZodObject, Output extends z.ZodObject> = {
  readonly name: string
  readonly title?: string
  /** When to use it. */
  readonly description: string
  /** What it takes; a strict object, so that an unknown name is an error. */
  readonly input: Input
  readonly output: Output
  readonly annotations: ToolAnnotations
  /** Other names of arguments, which callers take for theirs. */
  readonly aliases?: Readonly<Record<string, string>>
  /** What a call with other arguments is sure not to have done, before what it takes. */
  readonly untouched?: string
}

type Listed = Pick<Definition<z.ZodObject, z.ZodObject>, "name" | "title" | "description" | "annotations"> & {
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
}

/** A tool as a server registers it. `Call` is what it gets besides its arguments, `Result` what it returns. */
export type Tool<Call, Result> = Definition<z.ZodObject, z.ZodObject> & {
  /** As clients list it. */
  readonly listed: Listed
  /** The arguments of a call as `run` gets them. Throws invalid-arguments for those that it doesn't take. */
  readonly read: (given: unknown) => Record<string, unknown>
  readonly run: (call: Call, given: unknown) => Result
}

/** The arguments under their own names. */
const renamed = (given: unknown, aliases: Readonly<Record<string, string>>): unknown => {
  if (!isObject(given)) return given
  const [own, others] = [Object.entries(given), Object.keys(aliases)]
  const named = own.flatMap(([name, value]) => (others.includes(name) ? [[aliases[name] ?? "", value] as const] : []))
  const isNamed = (name: string): boolean => named.some(([other]) => other === name)
  const isMeant = ([name, value]: readonly [string, unknown]): boolean =>
    !others.includes(name) && value !== null && !(value === "" && isNamed(name))
  return Object.fromEntries([...named, ...own.filter(isMeant)])
}

/**
 * A tool whose `run` gets checked arguments. Its schemas are converted once, here.
 * @example
 * ```ts
 * const tool = defineTool({ name: "read_page", description, annotations, input, output }, (library, { slug }) => library.read(slug))
 * ```
 */
export const defineTool = <Call, Input extends z.ZodObject, Output extends z.ZodObject, Result>(
  definition: Definition<Input, Output>,
  run: (call: Call, args: z.output<Input>) => Result,
): Tool<Call, Result> => {
  const { name, title, description, annotations, input, output, aliases = {}, untouched } = definition
  const listed = listedSchema(input, "input")
  const read = (given: unknown) => readArguments({ name, input, listed, untouched }, renamed(given, aliases))
  return {
    ...definition,
    listed: {
      name,
      ...(title !== undefined && { title }),
      description,
      inputSchema: listed,
      outputSchema: listedSchema(output, "output"),
      annotations,
    },
    read,
    run: (call, given) => run(call, read(given)),
  }
}

type Serving<Call, Result> = {
  /** What a call gets besides its arguments, and what ends with it. */
  readonly begin: (request: ServerContext) => { readonly call: Call; readonly end: () => void }
  readonly succeeded: (result: Awaited<Result>) => CallToolResult
  readonly failed: (error: unknown) => CallToolResult
}

const unknown = (kind: string, name: string, hint: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no ${kind} ${JSON.stringify(name.slice(0, 100))}.${hint}`,
  )

/**
 * Registers tools by the SDK's own handlers, which validate and convert nothing more, and an empty list of prompts: some clients
 * ask for it whatever the server's capabilities are, and drop a server whose response is an error.
 */
export const serveTools = <Call, Result>(
  server: Server,
  tools: readonly Tool<Call, Result>[],
  { begin, succeeded, failed }: Serving<Call, Result>,
): void => {
  // The SDK wants mutable arrays, and changes none.
  const list = { tools: tools.map(({ listed }) => listed as ListedTool) }
  const names = tools.map(({ name }) => name)
  server.setRequestHandler("tools/list", () => list)
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: given } }, request) => {
    const tool = tools.find((one) => one.name === name)
    if (tool === undefined) {
      const near = closeTo(name, names)
      throw unknown("tool", name, near === undefined ? ` Its tools: ${names.join(", ")}.` : ` Did you mean ${near}?`)
    }
    const { call, end } = begin(request)
    try {
      return succeeded(await tool.run(call, given))
    } catch (error) {
      return failed(error)
    } finally {
      end()
    }
  })
  server.setRequestHandler("prompts/list", () => ({ prompts: [] }))
  server.setRequestHandler("prompts/get", ({ params: { name } }) => {
    throw unknown("prompt", name, "")
  })
}
