// What is shown, in other programs' words.

export type Watching = {
  readonly base: string
  readonly api: string
  readonly stack: string
  readonly websocketUrl: string
  readonly view: string
  readonly recordKey: string
  readonly take: number
}

/** A word of a shell command. */
export const quote = (word: string): string =>
  /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`

/** The same records by the command line, by a program and by WebSocket messages. */
export const sameIn = ({ base, api, stack, websocketUrl, view, recordKey, take }: Watching) => {
  const key = recordKey === "" ? undefined : recordKey
  const words = [
    "npx",
    `${base}/cli/svc.tgz`,
    "watch",
    stack,
    view,
    ...(key === undefined ? [] : ["--key", key]),
    "--take",
    String(take),
  ]
  const options = `{ ${key === undefined ? "" : `key: ${JSON.stringify(key)}, `}take: ${take} }`
  return {
    "Command line": [...words, "--api-url", api].map(quote).join(" "),
    TypeScript: `// npm install ${base}/client/svc-client.tgz
import { createPlatform, createSession, createStream } from "svc-client"

const websocketUrl = ${JSON.stringify(websocketUrl)}
const platform = createPlatform({ apiUrl: ${JSON.stringify(api)}, key: process.env.SVC_API_KEY })
const session = createSession({ platform, websocketUrl, scope: "read" })
const stream = createStream({ websocketUrl, session })

for await (const { records, change } of stream.watch(${JSON.stringify(view)}, ${options}))
  console.log(change.op, records.size)`,
    WebSocket: `# A token, then the stream. websocat or another client sends and shows the messages.
TOKEN=$(curl -s ${quote(`${api}/ws/sessions`)} -H "Authorization: Bearer $SVC_API_KEY" \\
  --json ${quote(JSON.stringify({ websocket_url: websocketUrl }))} | jq -r .token)
websocat ${quote(websocketUrl)} --protocol "svc.stream.v1, bearer.$TOKEN"
${JSON.stringify({ type: "subscribe", view, key, take })}`,
  }
}
