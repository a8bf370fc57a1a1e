// The yardstick: Hono and undici, and nothing in between. Takes the provider's URL as PROVIDER, prints its port.
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import { Agent } from "undici"

const upstream = new URL(process.env["PROVIDER"] ?? "")
const agent = new Agent()
const app = new Hono()
app.post("/", async (c) => {
  const { statusCode, body } = await agent.request({
    origin: upstream.origin,
    path: "/",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: await c.req.text(),
  })
  const text = await body.text()
  return c.body(text, statusCode === 200 ? 200 : 502, { "Content-Type": "application/json" })
})
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`"port":${port}`))
