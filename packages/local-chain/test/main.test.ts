import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const start = (env: Record<string, string>) => {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
  const child = spawn(process.execPath, [main], { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] })
  const output = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => (output.stdout += String(chunk)))
  child.stderr.on("data", (chunk) => (output.stderr += String(chunk)))
  const exit = once(child, "close").then(([code]) => ({ code: code as number | null, ...output }))
  return { child, exit }
}

test.for(["SIGTERM", "SIGINT"] as const)(
  "it prints its URL in one JSON line, and %s ends it with exit code 0",
  async (signal) => {
    const { child, exit } = start({ PORT: " 0 ", HOST: " " })
    const [line] = await once(child.stdout, "data")
    const { url } = JSON.parse(String(line)) as { url: string }
    expect(new URL(url).hostname).toBe("127.0.0.1")
    expect(await (await fetch(`${url}/health`)).text()).toBe("ok")
    child.kill(signal)
    expect(await exit).toMatchObject({ code: 0, stderr: "" })
  },
)

test("wrong settings or a port in use end it with exit code 1 and the reason", async () => {
  expect(await start({ PORT: "0x10" }).exit).toMatchObject({ code: 1, stderr: expect.stringContaining("PORT") })
  const taken = createServer().listen(0, "127.0.0.1")
  await once(taken, "listening")
  const bound = taken.address()
  const port = String(bound !== null && typeof bound === "object" ? bound.port : 0)
  expect(await start({ PORT: port }).exit).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(port) })
  taken.close()
})
