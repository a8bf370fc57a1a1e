import { full } from "@svc/testing"

/** How often a property is tried: a hundredth in the usual run of what SVC_FUZZ=full asks for. */
export const runs = (times: number): { numRuns: number } => ({ numRuns: full ? times : Math.ceil(times / 100) })
