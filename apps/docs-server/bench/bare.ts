// What the server is measured against: a Hono route that answers with as many bytes as its path says.
import { serve } from "@svc/http"
import { Hono } from "hono"

const bare = new Hono()
const sizes = new Map<string, string>()
bare.on(["GET", "POST"], "/:size", (c) => {
  const size = c.req.param("size")
  const text = sizes.get(size) ?? "x".repeat(Number(size))
  sizes.set(size, text)
  return new Response(text, { headers: { "Content-Type": "application/json" } })
})
const server = await serve({ host: "127.0.0.1", port: 0, drainMs: 0 })
server.handle(bare.fetch)
console.log(`"port":${server.port}`)
