import { acceptWeights } from "@svc/http"

/** Whether a GET asks for the event stream: named, wanted, and wanted more than JSON. Wildcards mean the descriptor. */
export const wantsEventStream = (accept: string | undefined): boolean => {
  if (accept === undefined || !/event-stream/i.test(accept)) return false
  const types = acceptWeights(accept)
  const stream = types.get("text/event-stream") ?? 0
  return stream > 0 && stream > (types.get("application/json") ?? 0)
}
