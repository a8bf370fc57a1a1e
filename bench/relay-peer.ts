// The relay's peer: zod-openapi, jose with the platform's keys, undici.
import { createRoute, z } from "@hono/zod-openapi"
import { createMiddleware } from "hono/factory"
import { createRemoteJWKSet, jwtVerify } from "jose"
import { Agent, request } from "undici"
import { createPeer, listen, type PeerEnv } from "./peer.ts"

const provider = process.env["PROVIDER"] ?? ""
const keys = createRemoteJWKSet(new URL(`${process.env["PLATFORM"]}/.well-known/jwks.json`))
const dispatcher = new Agent()

const authenticated = (scope: string) =>
  createMiddleware<PeerEnv>(async (c, next) => {
    const token = /^Bearer (\S+)$/.exec(c.req.header("authorization") ?? "")?.[1]
    try {
      const { payload } = await jwtVerify(token ?? "", keys, { audience: "transfers", algorithms: ["EdDSA"] })
      if (!String(payload["scope"]).split(" ").includes(scope)) return c.json({ code: "insufficient_scope" }, 403)
    } catch {
      return c.json({ code: "token-invalid" }, 401)
    }
    return next()
  })

const rpc = async <T>(method: string, params: readonly unknown[], result: z.ZodType<T>): Promise<T> => {
  const headers = { "content-type": "application/json" }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  const response = await request(provider, { method: "POST", headers, body, dispatcher })
  return z.object({ result }).parse(await response.body.json()).result
}

const failure = { description: "An error", content: { "application/json": { schema: z.object({ code: z.string() }) } } }
const route = <In extends z.ZodType, Out extends z.ZodType>(name: string, scope: string, input: In, output: Out) =>
  createRoute({
    method: "post",
    path: `/transactions/v1/${name}`,
    middleware: authenticated(scope),
    request: { body: { required: true, content: { "application/json": { schema: input } } } },
    responses: {
      200: { description: "The result", content: { "application/json": { schema: output } } },
      400: failure,
      401: failure,
      403: failure,
    },
  })

const commitment = z.enum(["processed", "confirmed", "finalized"]).default("confirmed")
const latest = z.object({ blockhash: z.string(), lastValidBlockHeight: z.number() })
const app = createPeer((c) => c.req.header("authorization") ?? "")
app.openapi(route("latest-blockhash", "transaction:inspect", z.strictObject({ commitment }), latest), async (c) => {
  const params = [c.req.valid("json")]
  return c.json((await rpc("getLatestBlockhash", params, z.object({ value: latest }))).value, 200)
})
const sending = z.strictObject({ transaction: z.base64() })
app.openapi(route("send", "transaction:send", sending, z.object({ signature: z.string() })), async (c) => {
  const params = [c.req.valid("json").transaction, { encoding: "base64" }]
  return c.json({ signature: await rpc("sendTransaction", params, z.string()) }, 200)
})
listen(app)
