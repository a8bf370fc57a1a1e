import { spawn } from "node:child_process"
import { connect, createServer, Socket } from "node:net"
import { once } from "node:events"
import { expect, test } from "vitest"
import { z } from "zod"
import { startPostgres, startProcess } from "./index.ts"

test("a test's own PostgreSQL server responds, can fail and come back, and leaves nothing", async () => {
  const postgres = await startPostgres()
  const dial = async () => {
    const socket = connect(postgres.port, "127.0.0.1")
    await once(socket, "connect")
    socket.destroy()
  }
  try {
    await dial()
    await postgres.halt()
    await expect(dial()).rejects.toThrow(/ECONNREFUSED/)
    await postgres.resume()
    await dial()
  } finally {
    await postgres.stop()
  }
  await expect(dial()).rejects.toThrow(/ECONNREFUSED/)
})

test("a process gets none of the machine's settings, and its output and exit are visible", async () => {
  const script =
    'process.on("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1000); console.log("up", Object.keys(process.env).sort().join())'
  const child = startProcess(process.execPath, ["-e", script], { env: { A: "1" } })
  expect((await child.waitFor(/up (.*)/))[1]).toBe("A,NODE_COMPILE_CACHE,PATH")
  child.kill("SIGTERM")
  expect(await child.exited).toBe(7)
  await expect(child.waitFor(/never/)).rejects.toThrow(/ended \(7\)/)
})

test("a process ends with a program that started it and fails", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = z.object({ port: z.int() }).parse(server.address())
  const script = `const { startProcess } = await import(${JSON.stringify(new URL("index.ts", import.meta.url).href)})
    startProcess(process.execPath, ["-e", "require('net').connect(${port}, '127.0.0.1')"])
    process.stdin.once("data", () => { throw new Error("a load failed") })`
  const program = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["pipe", "ignore", "ignore"],
  })
  const [socket] = z.tuple([z.instanceof(Socket)]).parse(await once(server, "connection"))
  const closed = once(socket.resume(), "close")
  program.stdin.write("now")
  await expect(closed).resolves.toBeDefined()
  server.close()
})

test("a free port can be listened on, isn't used by an outgoing connection, and goes to one process only", async () => {
  // Both would begin with the same port, and something listens on that.
  const script = `Math.random = () => 0.5
    const { freePort } = await import(${JSON.stringify(new URL("index.ts", import.meta.url).href)})
    console.log("ports", JSON.stringify([await freePort(), await freePort(), await freePort()]))
    setInterval(() => {}, 1000)`
  const server = createServer().once("error", () => {})
  server.listen(26_000, "127.0.0.1")
  const children = ["one", "other"].map(() => startProcess(process.execPath, ["--input-type=module", "-e", script]))
  try {
    const written = await Promise.all(children.map((child) => child.waitFor(/ports (.*)/)))
    const ports = written.flatMap(([, list = ""]) => z.array(z.int()).parse(JSON.parse(list)))
    expect(new Set([...ports, 26_000]).size).toBe(7)
    expect(Math.min(...ports)).toBeGreaterThan(26_000)
    expect(Math.max(...ports)).toBeLessThan(32_000)
  } finally {
    for (const child of children) child.kill("SIGKILL")
    server.close()
  }
})
