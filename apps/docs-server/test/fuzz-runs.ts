import { full } from "@svc/testing"
import { vi } from "vitest"

if (full) vi.setConfig({ testTimeout: 3_600_000 })

/** How often a property is tried: a hundredth in the usual run of what SVC_FUZZ=full asks for. */
export const runs = (times: number): { numRuns: number } => ({ numRuns: full ? times : Math.ceil(times / 100) })
