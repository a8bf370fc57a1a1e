import { expect, test } from "vitest"
import { testReceiver } from "../../../test/start-service.ts"
import { createPlatform } from "../src/index.ts"

/** Cloudflare's: it takes no other value, and throws before it sends anything. */
const fetchOfWorkers: typeof fetch = async (input, init) => {
  if (init?.redirect !== "follow" && init?.redirect !== "manual") throw new TypeError("Invalid redirect value")
  return fetch(input, init)
}

test.each([
  ["the runtime's fetch", fetch],
  ["the fetch of Cloudflare Workers", fetchOfWorkers],
])("by %s a key follows no redirect, and a response without one is read", async (_name, given) => {
  const { url, received, answer } = await testReceiver()
  const other = await testReceiver()
  const platform = createPlatform({ apiUrl: url, key: "svc_ak_x", fetch: given })
  answer((_, response) => response.writeHead(302, { location: other.url }).end())
  await expect(platform.me()).rejects.toMatchObject({ status: 302, code: "unexpected-answer", retryable: true })
  answer((_, response) => response.end('{"slug":"a"}'))
  expect(await platform.me()).toEqual({ slug: "a" })
  expect([received.length, other.received.length]).toEqual([2, 0])
})

test("in a browser a redirect has the status 0", async () => {
  const opaque = async () => ({ status: 0, headers: new Headers(), text: async () => "", body: null })
  const platform = createPlatform({ apiUrl: "https://api.example", fetch: opaque })
  await expect(platform.registry.list()).rejects.toMatchObject({ code: "unexpected-answer", retryable: true })
})

test("a response of a proxy in front of a service that fails or is away is retryable; one that forbids isn't", async () => {
  for (const [status, retryable] of [
    [500, true],
    [502, true],
    [520, true],
    [522, true],
    [529, true],
    [530, true],
    [403, false],
    [404, false],
  ] as const) {
    const { me } = createPlatform({
      apiUrl: "https://api.example",
      fetch: async () => new Response("<html>", { status }),
    })
    await expect(me()).rejects.toMatchObject({ status, code: "unexpected-answer", retryable })
  }
})

test.each(["svc_ak_x\ny", "svc_ak_x\u200b", "\ufeffsvc_ak_x\0", "“svc_ak_x”"])(
  "the service rejects a key that no header takes, such as %j, and no error shows it",
  async (key) => {
    const { url, received, answer } = await testReceiver()
    answer((_, response) => response.writeHead(401).end('{"code":"invalid-api-key","error":"No key"}'))
    const { me, registry } = createPlatform({ apiUrl: url, key })
    for (const call of [me(), registry.changes().next()]) {
      const error: unknown = await call.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: "invalid-api-key", retryable: false })
      expect(error).not.toHaveProperty("cause")
    }
    const sent = `Bearer ${encodeURI(key.trim())}`
    expect(received.map(({ headers }) => headers["authorization"])).toEqual([sent, sent])
  },
)

test.each([undefined, "", "api.example", "ftp://api.example", "https://a:b@api.example", "https://api.example/?x"])(
  "the URL %s is an error that names the option",
  (url) => {
    const apiUrl = url as string
    expect(() => createPlatform({ apiUrl })).toThrow("apiUrl must be an http or https URL without user, query")
  },
)
