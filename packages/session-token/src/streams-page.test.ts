// The program of the page Streams, as an operator would run it, against tokens of every kind.
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { startReceiver } from "@svc/testing"
import { expect, onTestFinished, test } from "vitest"
import { generateSigningKey, publicJwks, readSigningKeys, signSessionToken } from "./index.ts"

const page = readFileSync(join(import.meta.dirname, "../../../apps/docs-server/content/streams.md"), "utf8")

test("the page's program accepts valid tokens and rejects all others", async () => {
  const [keys, foreign] = [
    await readSigningKeys(await generateSigningKey()),
    await readSigningKeys(await generateSigningKey()),
  ]
  const { url: apiUrl, answer, close } = await startReceiver()
  onTestFinished(close)
  answer((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(publicJwks(keys))),
  )
  const folder = await mkdtemp(join(tmpdir(), "svc-streams-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [, program = ""] = /```js verify-token\.mjs\n(.*?)```/s.exec(page) ?? []
  expect(program.trimEnd().split("\n").length).toBeLessThan(25)
  const file = join(folder, "verify-token.mjs")
  await writeFile(
    file,
    program.replace("{api_url}", apiUrl).replace('"jose"', JSON.stringify(import.meta.resolve("jose"))),
  )
  const { verifyToken } = await import(/* @vite-ignore */ pathToFileURL(file).href)

  const claims = {
    iss: "svc-platform",
    sub: "agent:agt_0123456789",
    aud: "transfers",
    jti: crypto.randomUUID(),
    scope: "read transaction:inspect",
    key_class: "secret" as const,
    metering_key: "key:7",
  }
  const now = Math.floor(Date.now() / 1000)
  const token = async (changed: object = {}, { by = keys, at = now } = {}): Promise<string> =>
    (await signSessionToken(by, { ...claims, ...changed }, at)).token
  const verify = async (text: string, origin?: string): Promise<unknown> =>
    verifyToken(text, { stack: "transfers", origin })

  expect(await verify(await token())).toMatchObject({ sub: claims.sub })
  expect(await verify(await token({ origin: "https://a.example" }), "https://a.example")).toMatchObject({
    aud: "transfers",
  })
  const refused: [string, string?][] = [
    [await token({}, { by: foreign })],
    [await token({ aud: "other" })],
    [await token({ iss: "other" })],
    [await token({ scope: "transaction:inspect" })],
    [await token({}, { at: now - 400 })],
    [await token({ origin: "https://a.example" })],
    [await token({ origin: "https://a.example" }), "https://b.example"],
    [""],
  ]
  for (const [text, origin] of refused) await expect(verify(text, origin)).rejects.toBeInstanceOf(Error)
})
