import { createPlatform, type StackWithSchema, SvcError } from "@svc/client"
import { systemClock } from "@svc/client/http"
import { firstView } from "@svc/common/stack-views"
import { reaches } from "./away.ts"

/** What the page says about a panel's place. */
export const placeOf = ({ dataset }: HTMLElement) => ({
  api: dataset["api"] ?? "",
  base: dataset["base"] ?? "",
  /** The origin that this page may open streams at. */
  stream: dataset["stream"] ?? "",
  /** The copy's own publishable key, if it has one. */
  viewerKey: dataset["key"] ?? "",
  stack: dataset["stack"] ?? "",
  /** Undefined: the stack's first view. */
  view: dataset["view"],
})
export type Place = ReturnType<typeof placeOf>

export const isOfOne = (one: string, other: string): boolean => one.split("/")[0] === other.split("/")[0]

const retryMs = 2000

const sourceOf = ({ websocket_url: websocketUrl, schema }: StackWithSchema) => ({
  websocketUrl,
  views: schema.entities.flatMap(({ views }) => views.map(({ id, needs_key: needsKey }) => ({ id, needsKey }))),
  first: firstView(schema.entities),
})
export type Source = ReturnType<typeof sourceOf>
export type View = Source["views"][number]

/** Thrown for a response in another shape than documented. */
export class UnreadableSource extends Error {}

/**
 * Reads a stack's views, and tries again while the platform is away. Undefined: there is no such stack.
 * @throws UnreadableSource with the request's id as its message
 */
export const readSource = async (
  { api, stack }: Place,
  onAway: (error: SvcError) => void,
  signal: AbortSignal,
): Promise<Source | undefined> => {
  let requestId = ""
  const noted: typeof fetch = async (...asked) => {
    const response = await fetch(...asked)
    requestId = response.headers.get("x-request-id") ?? ""
    return response
  }
  const { registry } = createPlatform({ apiUrl: api, fetch: noted })
  while (!signal.aborted) {
    try {
      return sourceOf(await registry.schema(stack))
    } catch (error) {
      if (!(error instanceof SvcError) || error.status === 200) throw new UnreadableSource(requestId)
      if (error.status === 404) return undefined
      onAway(error)
      await systemClock.sleep(Math.max(retryMs, error.retryAfterMs ?? 0), signal)
      // Asked every two seconds rather than once and waited for.
      while (!signal.aborted && !(await reaches(`${api}/livez`))) await systemClock.sleep(retryMs, signal)
    }
  }
  return undefined
}
