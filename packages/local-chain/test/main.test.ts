import { once } from "node:events"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { startProcess } from "@svc/testing"
import { expect, test } from "vitest"

const start = (env: Record<string, string>) =>
  startProcess(process.execPath, [fileURLToPath(new URL("../src/main.ts", import.meta.url))], { env })

test.for(["SIGTERM", "SIGINT"] as const)(
  "it prints its URL in one JSON line, and %s ends it with exit code 0",
  async (signal) => {
    const child = start({ PORT: " 0 ", HOST: " " })
    const [line] = await child.waitFor(/.+(?=\n)/)
    const { url } = JSON.parse(line) as { url: string }
    expect(new URL(url).hostname).toBe("127.0.0.1")
    expect(await (await fetch(`${url}/health`)).text()).toBe("ok")
    child.kill(signal)
    expect(await child.exited).toBe(0)
    expect(child.stderr()).toBe("")
  },
)

test("wrong settings or a port in use end it with exit code 1 and the reason", async () => {
  const wrong = start({ PORT: "0x10" })
  expect(await wrong.exited).toBe(1)
  expect(wrong.stderr()).toContain("PORT")
  const taken = createServer().listen(0, "127.0.0.1")
  await once(taken, "listening")
  const bound = taken.address()
  const port = String(bound !== null && typeof bound === "object" ? bound.port : 0)
  const late = start({ PORT: port })
  expect([await late.exited, late.stdout()]).toEqual([1, ""])
  expect(late.stderr()).toContain(port)
  taken.close()
})
