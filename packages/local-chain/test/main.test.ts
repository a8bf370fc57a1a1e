import { fileURLToPath } from "node:url"
import { startProcess } from "@svc/testing"
import { expect, test } from "vitest"

test("it prints its URL in one JSON line, and SIGTERM ends it with exit code 0", async () => {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
  const child = startProcess(process.execPath, [main], { env: { PORT: " 0 ", HOST: " " } })
  const [line] = await child.waitFor(/.+(?=\n)/)
  const { url } = JSON.parse(line) as { url: string }
  expect(new URL(url).hostname).toBe("127.0.0.1")
  expect(await (await fetch(`${url}/health`)).text()).toBe("ok")
  child.kill("SIGTERM")
  expect(await child.exited).toBe(0)
  expect(child.stderr()).toBe("")
})
