// What the service is measured against: Hono and the driver alone, with the same bytes.
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import pg from "pg"

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"] ?? "", max: 10 })
const schema = Buffer.from(process.env["SCHEMA"] ?? "", "base64")
const slug = process.env["SLUG"] ?? ""

const app = new Hono()
app.get("/plain", (c) => c.json({ slug, display_name: slug, status: "active", created_at: slug, last_seen_at: slug }))
app.get("/query", async (c) => {
  const text = "select slug, display_name, status, created_at, last_seen_at from agent_profiles where slug = $1"
  const { rows } = await pool.query({ name: "profile", text, values: [slug] })
  return c.json(rows[0])
})
app.get("/schema", (c) => c.body(new Uint8Array(schema), 200, { "content-type": "application/json" }))

const list = process.env["LIST_SQL"] ?? ""
app.get("/list", async (c) => c.json((await pool.query({ name: "list", text: list, values: [1, 51, 0] })).rows))

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env["PORT"]) })
