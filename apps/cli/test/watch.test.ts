import { once } from "node:events"
import { startProcess } from "@svc/testing"
import { afterAll, expect, test } from "vitest"
import { WebSocketServer } from "ws"
import { startServer } from "./server.ts"
import { makeTool } from "./tool.ts"

const view = "Wallet/list"
const stream = new WebSocketServer({ host: "127.0.0.1", port: 0, handleProtocols: () => "svc.stream.v1" })
await once(stream, "listening")
const address = stream.address()
const websocket_url = `ws://127.0.0.1:${typeof address === "object" ? address?.port : ""}/transfers`
const schema = { entities: [{ name: "Wallet", views: [{ id: view }] }] }
const platform = await startServer(({ target }) => ({
  body: target === "/ws/sessions" ? { token: "any" } : { name: "transfers", websocket_url, schema },
}))
const tool = await makeTool()
afterAll(() => stream.close())

test("svc watch reports each reconnection once on standard error, and continues with what has changed meanwhile", async () => {
  let connections = 0
  stream.on("connection", (socket) => {
    const key = `k${++connections}`
    socket.once("message", () => {
      socket.send(JSON.stringify({ op: "subscribed", view, mode: "list" }))
      socket.send(JSON.stringify({ op: "snapshot", entity: view, data: [{ key, data: {} }], complete: true }))
      if (connections < 3) socket.close(1012)
    })
  })
  const child = startProcess(process.execPath, [await tool.file(), "watch", "transfers"], {
    env: { SVC_API_URL: platform.url, SVC_API_KEY: "svc_ak_test", XDG_CONFIG_HOME: tool.home },
  })
  await child.waitFor(/"k3"/)
  child.kill("SIGINT")
  expect(await child.exited).toBe(0)
  expect(child.stderr()).toBe("The connection was lost. Reconnecting…\n".repeat(2))
  const lines = child.stdout().trim().split("\n")
  expect(
    lines.map((line) =>
      Object.values(JSON.parse(line) as object)
        .slice(0, 2)
        .join(" "),
    ),
  ).toEqual(["snapshot k1", "delete k1", "snapshot k2", "delete k2", "snapshot k3"])
})
