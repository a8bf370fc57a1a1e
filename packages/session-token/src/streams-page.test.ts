// The program of the page Streams, as an operator would run it, against tokens of every kind.
import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { testFolder, testReceiver } from "../../../test/start-service.ts"
import { claims } from "../test/claims.ts"
import { generateSigningKey, publicJwks, readSigningKeys, signSessionToken } from "./index.ts"

const page = readFileSync(join(import.meta.dirname, "../../../apps/docs-server/content/streams.md"), "utf8")

test("the page's program accepts valid tokens and rejects all others", async () => {
  const [keys, foreign] = [
    await readSigningKeys(await generateSigningKey()),
    await readSigningKeys(await generateSigningKey()),
  ]
  const { url: apiUrl, answer } = await testReceiver()
  answer((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(publicJwks(keys))),
  )
  const [, program = ""] = /```js verify-token\.mjs\n(.*?)```/s.exec(page) ?? []
  expect(program.trimEnd().split("\n").length).toBeLessThan(25)
  const file = join(await testFolder(), "verify-token.mjs")
  await writeFile(
    file,
    program.replace("{api_url}", apiUrl).replace('"jose"', JSON.stringify(import.meta.resolve("jose"))),
  )
  const { verifyToken } = await import(/* @vite-ignore */ pathToFileURL(file).href)

  const now = Math.floor(Date.now() / 1000)
  const token = async (changed: object = {}, { by = keys, at = now } = {}): Promise<string> =>
    (await signSessionToken(by, { ...claims, scope: "read transaction:inspect", ...changed }, at)).token
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
