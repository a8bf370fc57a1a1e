import { startReceiver } from "@svc/testing"

/** Serves one empty page, on a loopback port: its origin is all that matters. */
export const startPageServer = async () => {
  const { url, answer, close } = await startReceiver()
  const html = '<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,"></html>'
  answer((_, response) => response.setHeader("content-type", "text/html").end(html))
  return { port: Number(new URL(url).port), close }
}

export type PageServer = Awaited<ReturnType<typeof startPageServer>>
