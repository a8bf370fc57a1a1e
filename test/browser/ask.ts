import type { Page } from "playwright-core"

export type Asked = {
  readonly url: string
  readonly method?: string
  readonly key?: string
  readonly json?: unknown
  readonly mode?: "no-cors"
}

/** What a page's own script gets of an answer; `failed` is the message that its fetch throws. */
export type Seen =
  | {
      readonly failed?: never
      readonly type: string
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly failed: string }

/** One request by the page's script, inside the browser, with no header but what is given. */
export const ask = (page: Page, asked: Asked): Promise<Seen> =>
  page.evaluate(async ({ url, method = "GET", key, json, mode }): Promise<Seen> => {
    try {
      const response = await fetch(url, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(json !== undefined && { "content-type": "application/json" }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(mode !== undefined && { mode }),
      })
      const { type, status } = response
      return { type, status, headers: Object.fromEntries(response.headers), body: await response.text() }
    } catch (error) {
      return { failed: String(error) }
    }
  }, asked)

/** The same, for an answer that the page can read: its body is JSON. */
export const askJson = async (page: Page, asked: Asked) => {
  const seen = await ask(page, asked)
  if (seen.failed !== undefined) throw new Error(`the page cannot read the answer of ${asked.url}: ${seen.failed}`)
  const body: unknown = JSON.parse(seen.body)
  return { status: seen.status, headers: seen.headers, body }
}
