// The benchmark's peer: a Hono route that returns as many bytes as its path says.
import { serve } from "@hono/node-server"
import { Hono } from "hono"

const bare = new Hono()
const sizes = new Map<string, string>()
bare.on(["GET", "POST"], "/:size", (c) => {
  const size = c.req.param("size")
  const text = sizes.get(size) ?? "x".repeat(Number(size))
  sizes.set(size, text)
  return new Response(text, { headers: { "Content-Type": "application/json" } })
})
serve({ fetch: bare.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`"port":${port}`))
