// What the service is measured against: Hono and the driver alone, with the same bytes.
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import postgres from "postgres"

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: 10 })
const schema = Buffer.from(process.env["SCHEMA"] ?? "", "base64")
const slug = process.env["SLUG"] ?? ""

const app = new Hono()
app.get("/plain", (c) => c.json({ slug, display_name: slug, status: "active", created_at: slug, last_seen_at: slug }))
app.get("/query", async (c) => {
  const text = "select slug, display_name, status, created_at, last_seen_at from agent_profiles where slug = $1"
  const [row] = await sql.unsafe(text, [slug], { prepare: true })
  return c.json(row)
})
app.get("/schema", (c) => c.body(new Uint8Array(schema), 200, { "content-type": "application/json" }))

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`"port":${port}`))
