import { startReceiver } from "@svc/testing"

/** Serves one empty page, on a loopback port: its origin is all that matters. @param scripts by their paths */
export const startPageServer = async (scripts: Readonly<Record<string, string>> = {}) => {
  const { url, answer, close } = await startReceiver()
  const html = '<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,"></html>'
  answer(({ url: path }, response) => {
    const script = scripts[path]
    response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript").end(script ?? html)
  })
  return { port: Number(new URL(url).port), close }
}

export type PageServer = Awaited<ReturnType<typeof startPageServer>>
