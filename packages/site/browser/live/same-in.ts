// What is shown, in other programs' words.
import { shellWord, visibleJson } from "@svc/common/foreign-text"
import type { FeedOptions } from "./feed.ts"
import type { Place } from "./stack-source.ts"

export type Watching = Omit<FeedOptions, "apiKey"> & Pick<Place, "base" | "stack">

const json = (value: unknown): string => visibleJson(JSON.stringify(value))

/** The same records by the command line, by a program and by WebSocket messages. */
export const sameIn = ({ base, api, stack, websocketUrl, view, recordKey, take }: Watching) => {
  const key = recordKey === "" ? undefined : recordKey
  const words = [
    "npx",
    "-y",
    `${base}/cli/svc.tgz`,
    "watch",
    stack,
    view,
    ...(key === undefined ? [] : ["--key", key]),
    "--take",
    String(take),
  ]
  const options = `{ ${key === undefined ? "" : `key: ${json(key)}, `}take: ${take} }`
  return {
    "Command line": [...words, "--api-url", api].map(shellWord).join(" "),
    TypeScript: `// npm install ${base}/client/svc-client.tgz
import { createPlatform, createSession, createStream } from "svc-client"

const websocketUrl = ${json(websocketUrl)}
const platform = createPlatform({ apiUrl: ${json(api)}, key: process.env.SVC_API_KEY })
const session = createSession({ platform, websocketUrl, scope: "read" })
const stream = createStream({ websocketUrl, session })

for await (const { records, change } of stream.watch(${json(view)}, ${options}))
  console.log(change.op, records.size)`,
    WebSocket: `# A token, then the stream. websocat or another client sends and shows the messages.
TOKEN=$(curl -s ${shellWord(`${api}/ws/sessions`)} -H "Authorization: Bearer $SVC_API_KEY" \\
  --json ${shellWord(json({ websocket_url: websocketUrl }))} | jq -r .token)
websocat ${shellWord(websocketUrl)} --protocol "svc.stream.v1, bearer.$TOKEN"
${json({ type: "subscribe", view, key, take })}`,
  }
}
