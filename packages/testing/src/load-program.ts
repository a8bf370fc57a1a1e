// Loads one URL as its argument says, and prints what came of it. A program of its own: it needs a core for itself.
import autocannon from "autocannon"
import { z } from "zod"

const headers = z.record(z.string(), z.string())
const target = z.object({
  url: z.string(),
  connections: z.int(),
  seconds: z.number(),
  headers: z.array(headers),
  body: z.string().optional(),
})

const { url, connections, seconds, headers: turns, body } = target.parse(JSON.parse(process.argv[2] ?? ""))
const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" }
let turn = 0
const result = await autocannon({
  url,
  connections,
  duration: seconds,
  ...(body === undefined ? {} : { method: "POST", body, idReplacement: body.includes("[<id>]") }),
  setupClient: (client) => client.setHeaders({ ...type, ...turns[turn++ % turns.length] }),
})
console.log(JSON.stringify(result))
