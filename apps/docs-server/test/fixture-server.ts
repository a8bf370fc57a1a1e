import { McpServer, ResourceTemplate, inputRequired } from "@modelcontextprotocol/server"
import { z } from "zod"

const text = (value: string) => ({ type: "text" as const, text: value })
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
const image = { type: "image" as const, data: pixel, mimeType: "image/png" }
const silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
const embedded = (uri: string, mimeType: string, value: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: value },
})
const none = z.object({})

/** The tools, resources and prompts that the official suite asks for, to prove the HTTP layer in front of them. */
export const createFixtureServer = (): McpServer => {
  const quiet = { listChanged: false }
  const hint = { ttlMs: 0, cacheScope: "private" } as const
  const server = new McpServer(
    { name: "fixtures", version: "1.0.0" },
    {
      capabilities: { tools: quiet, resources: quiet, prompts: quiet, completions: {}, logging: {} },
      cacheHints: { "tools/list": hint },
    },
  )
  const tool = (
    name: string,
    content: () => (ReturnType<typeof text> | typeof image | ReturnType<typeof embedded>)[],
  ) => server.registerTool(name, { description: name, inputSchema: none }, () => ({ content: content() }))
  tool("test_simple_text", () => [text("This is a simple text response for testing.")])
  tool("test_image_content", () => [image])
  tool("test_embedded_resource", () => [
    embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ])
  tool("test_multiple_content_types", () => [
    text("Multiple content types test:"),
    image,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ])
  tool("test_error_handling", () => {
    throw new Error("This tool intentionally returns an error for testing")
  })
  server.registerTool("test_audio_content", { description: "audio", inputSchema: none }, () => ({
    content: [{ type: "audio" as const, data: silence, mimeType: "audio/wav" }],
  }))
  server.registerTool("test_tool_with_progress", { description: "progress", inputSchema: none }, async (_args, ctx) => {
    const { _meta: meta } = ctx.mcpReq
    const progressToken = meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await ctx.mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: progressToken ?? "", progress, total: 100 },
      })
    return { content: [text("done")] }
  })
  server.registerTool("test_logging_tool", { description: "logging", inputSchema: none }, async (_args, ctx) => {
    await ctx.mcpReq.log("info", "Tool execution")
    return { content: [text("logged")] }
  })
  server.registerTool("test_missing_capability", { description: "capability", inputSchema: none }, () =>
    inputRequired({
      inputRequests: {
        answer: inputRequired.createMessage({ messages: [], maxTokens: 10 }),
      },
    }),
  )
  server.registerTool("test_streaming_elicitation", { description: "elicitation", inputSchema: none }, () =>
    inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: "What is your name?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } } },
        }),
      },
    }),
  )

  server.registerResource("static-text", "test://static-text", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }))
  server.registerResource("static-binary", "test://static-binary", { mimeType: "image/png" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "image/png", blob: pixel }],
  }))
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined })
  server.registerResource("template", template, { mimeType: "application/json" }, (uri, { id }) => ({
    contents: [
      {
        uri: uri.href,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }))

  const say = (...content: (ReturnType<typeof text> | typeof image | ReturnType<typeof embedded>)[]) => ({
    messages: content.map((part) => ({ role: "user" as const, content: part })),
  })
  server.registerPrompt("test_simple_prompt", { description: "simple" }, () =>
    say(text("This is a simple prompt for testing.")),
  )
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "arguments", argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => say(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      say(
        embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  )
  server.registerPrompt("test_prompt_with_image", { description: "image" }, () =>
    say(image, text("Please analyze the image above.")),
  )
  server.server.setRequestHandler("completion/complete", () => ({ completion: { values: [] } }))
  return server
}
