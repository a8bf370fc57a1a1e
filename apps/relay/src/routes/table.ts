import { blockHeight, fee, latestBlockhash, signatureStatus } from "./reads.ts"
import type { Route } from "./route.ts"
import { send } from "./send.ts"
import { simulate } from "./simulate.ts"

/** Every route to the provider. Other paths are unknown. */
export const routes: readonly Route[] = [latestBlockhash, fee, simulate, signatureStatus, blockHeight, send]

/** The paths whose errors must have `submissionState`. */
export const sendPaths = new Set<string>(routes.filter((route) => route.class === "send").map(({ path }) => path))
