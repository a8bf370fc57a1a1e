import { Client, type ClientOptions, type RequestOptions } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { z } from "zod"

const fault = z.object({ code: z.string(), message: z.string(), hint: z.string().optional(), retryable: z.boolean() })
const answered = z.looseObject({
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
})

/** `svc mcp` in a process of its own, behind the official client. */
export const startMcp = async (file: string, env: Readonly<Record<string, string>>, options: ClientOptions = {}) => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [file, "mcp"],
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stderr: "pipe",
  })
  let said = ""
  transport.stderr?.on("data", (text: Buffer) => (said += text.toString()))
  const client = new Client({ name: "test", version: "1" }, options)
  await client.connect(transport)
  /** Every text that came back, for whatever may not be in one. */
  const texts: string[] = []
  /** How many characters a model would write and read for each call. */
  const sizes: { readonly name: string; readonly characters: number }[] = []
  const callTool = async (name: string, args: Record<string, unknown> = {}, request: RequestOptions = {}) => {
    const result = answered.parse(await client.callTool({ name, arguments: args }, request))
    const text = result.content.map((block) => block.text).join("\n")
    texts.push(JSON.stringify(result))
    sizes.push({ name, characters: name.length + JSON.stringify(args).length + text.length })
    return { ...result, text }
  }
  return {
    client,
    transport,
    callTool,
    texts,
    sizes,
    stderr: () => said,
    /** The data of a call that succeeds. */
    call: async (name: string, args: Record<string, unknown> = {}, request: RequestOptions = {}) => {
      const { isError = false, structuredContent, text } = await callTool(name, args, request)
      if (isError || structuredContent === undefined) throw new Error(`${name}: ${text}`)
      return structuredContent
    },
    /** The error of a call that fails. */
    fails: async (name: string, args: Record<string, unknown> = {}) => {
      const { isError = false, text } = await callTool(name, args)
      if (!isError) throw new Error(`${name} succeeded: ${text}`)
      return fault.parse(JSON.parse(text))
    },
    close: () => client.close(),
  }
}

export type McpClient = Awaited<ReturnType<typeof startMcp>>
