import type { Page } from "playwright-core"

export type Asked = {
  readonly url: string
  readonly method?: string
  readonly key?: string
  readonly json?: unknown
}

/** One request by the page's script, inside the browser, with no header but what is given; its answer has a JSON body. */
export const askJson = (page: Page, asked: Asked) =>
  page.evaluate(async ({ url, method = "GET", key, json }) => {
    const response = await fetch(url, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(json !== undefined && { "content-type": "application/json" }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    })
    const body: unknown = await response.json()
    return { status: response.status, headers: Object.fromEntries(response.headers), body }
  }, asked)
