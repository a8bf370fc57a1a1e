import { createRelay, type Clock } from "../src/index.ts"
import { isObject } from "../src/http/json.ts"

type Route = "latest-blockhash" | "block-height" | "fee" | "simulate" | "send" | "signature-status"

/** What the relay says to one call: an answer, `"lost"` (the connection breaks) or `"silence"` (none, ever). */
export type Said =
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
  | "lost"
  | "silence"

export type Asked = { readonly route: Route; readonly body: Readonly<Record<string, unknown>>; readonly bearer: string }

export const ok = (body: unknown): Said => ({ status: 200, body })

/** A refusal of send that proves that nothing was submitted. */
export const refused = (
  code: string,
  retryable: boolean,
  headers: Record<string, string> = {},
  status = 502,
): Said => ({
  status,
  headers,
  body: { code, message: "No.", retryable, requestId: "r-1", submissionState: "not_submitted" },
})

/** A relay that answers as a script says, without a socket; `asked` is what it was asked. */
export const scriptedRelay = (clock: Clock, script: (asked: Asked) => Said) => {
  const asked: Asked[] = []
  const answer: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const route = url.pathname.replace("/transactions/v1/", "") as Route
    const body: unknown = JSON.parse(typeof init?.body === "string" ? init.body : "{}")
    const bearer = new Headers(init?.headers).get("authorization")?.replace("Bearer ", "") ?? ""
    const one = { route, body: isObject(body) ? body : {}, bearer }
    asked.push(one)
    const said = script(one)
    if (said === "lost") throw new TypeError("fetch failed")
    if (said === "silence") {
      return new Promise((_, reject) => {
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted")))
      })
    }
    return Response.json(said.body, {
      status: said.status,
      ...(said.headers === undefined ? {} : { headers: said.headers }),
    })
  }
  let minted = 0
  const session = {
    token: async () => `token-${minted}`,
    renew: async (old: string) => (old === `token-${minted}` ? `token-${++minted}` : `token-${minted}`),
  }
  const relay = createRelay({ relayUrl: "http://relay.test", session, fetch: answer, clock })
  return { relay, fetch: answer, session, asked, routes: () => asked.map(({ route }) => route) }
}
