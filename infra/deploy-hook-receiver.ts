// An example receiver for SVC_DEPLOY_HOOK_URL. It checks the signature, and says what a stream server would do.
//   SVC_DEPLOY_HOOK_SECRET=whsec_… node infra/deploy-hook-receiver.ts 4010
import { createServer, type IncomingMessage } from "node:http"
import { Webhook } from "standardwebhooks"
// Only a type: the program needs nothing of the platform when it runs.
import type { HookBody } from "../apps/platform-api/src/work/steps/hook-call.ts"

const mostBytes = 64 * 1024

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk as Uint8Array)
    size += bytes.length
    if (size > mostBytes) throw new Error("the body is too large")
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString()
}

const webhook = new Webhook(process.env["SVC_DEPLOY_HOOK_SECRET"] ?? "")
// After a lost response the same id comes again. Its action isn't repeated.
const done = new Set<string>()

const handle = async (request: IncomingMessage): Promise<void> => {
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const { type, data } = webhook.verify(await bodyOf(request), headers) as HookBody
  const id = headers["webhook-id"] ?? ""
  if (done.has(id)) return
  if (data.ast_url !== null && (type === "deployment.deploy" || type === "deployment.restart")) {
    // The link needs no key and is valid for an hour: never log it.
    const ast = (await (await fetch(data.ast_url)).json()) as { readonly stack_name: string }
    console.log(JSON.stringify({ serve: data.name, version: data.version, stack: ast.stack_name }))
  } else console.log(JSON.stringify({ end: data.name }))
  done.add(id)
}

const server = createServer((request, response) => {
  handle(request).then(
    () => response.writeHead(204).end(),
    // Any status but a 2xx is retried for 10 minutes.
    () => response.writeHead(400).end(),
  )
})
server.listen(Number(process.argv[2] ?? 4010), "127.0.0.1", () =>
  console.log(JSON.stringify({ listening: server.address() })),
)
