// One route with nine headers, served in the way that the argument names; prints its port.
import { serve as bareServe } from "@hono/node-server"
import { type Context, Hono } from "hono"
import { methodNotAllowed } from "hono/method-not-allowed"
import type { AddressInfo } from "node:net"
import { createLogger, routed, sentPath, serve, type ServedEnv, setHeader } from "../src/index.ts"

const body = { status: "ok", items: Array.from({ length: 20 }, (_, id) => ({ id, name: `item ${id}` })) }
const text = JSON.stringify(body)
const record: Record<string, string> = { "content-type": "application/json", "cache-control": "no-store" }
for (let i = 0; i < 7; i++) record[`x-header-${i}`] = `the value of header ${i}`
const names = Object.keys(record)

const before = (c: Context): void => names.forEach((name) => c.header(name, record[name]))
const layer = async (_: Context, next: () => Promise<void>): Promise<void> => next()

const idioms: Readonly<Record<string, (app: Hono<ServedEnv>) => unknown>> = {
  "new Response with a record": (app) => app.get("/", () => new Response(text, { headers: record })),
  "c.body with a record": (app) => app.get("/", (c) => c.body(text, 200, record)),
  "c.json with a record": (app) => app.get("/", (c) => c.json(body, 200, record)),
  "c.header nine times, then c.body": (app) =>
    app.get("/", (c) => {
      before(c)
      return c.body(text)
    }),
  "one middleware that does nothing": (app) => app.use(layer).get("/", () => new Response(text, { headers: record })),
  "hono/method-not-allowed as middleware": (app) =>
    app.use(methodNotAllowed({ app })).get("/", () => new Response(text, { headers: record })),
  "c.header after next() in two middlewares": (app) =>
    app
      .use(async (c, next) => {
        await next()
        names.slice(0, 4).forEach((name) => c.header(name, record[name]))
      })
      .use(async (c, next) => {
        await next()
        names.slice(4).forEach((name) => c.header(name, record[name]))
      })
      .get("/", () => new Response(text)),
}

/** Only behind `serve` of this package. */
const served: typeof idioms = {
  "serve, new Response with a record": (app) => app.get("/", () => new Response(text, { headers: record })),
  "serve, routed, setHeader once": (app) =>
    app.get(
      "/",
      routed((c) => {
        setHeader(c, "Vary", "Accept")
        return new Response(text, { headers: record })
      }),
    ),
}

/** Seconds of processor time, so far. */
const spent = (): Response => {
  const { user, system } = process.cpuUsage()
  return new Response(String((user + system) / 1e6))
}

const [way = ""] = process.argv.slice(2)
const tell = (port: number): void => console.log(`"port":${port}`)
if (way === "list") console.log(JSON.stringify(Object.keys({ ...idioms, ...served })))
else if (way in served) {
  const app = new Hono<ServedEnv>({ getPath: sentPath })
  app.get("/spent", spent)
  served[way]?.(app)
  const log = await createLogger({ level: "info", pretty: false, service: "bench" })
  const requests = { log, now: () => performance.now(), randomId: () => "0123456789abcdef" }
  const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 0, requests })
  server.handle(app.fetch)
  process.stderr.write(`"port":${server.port}`)
} else {
  const app = new Hono<ServedEnv>().get("/spent", spent)
  idioms[way]?.(app)
  bareServe({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, (info: AddressInfo) => tell(info.port))
}
