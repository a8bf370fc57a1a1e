import { redisProgram } from "@svc/testing"
import { type Limits, openLimits } from "../src/index.ts"

/** Whether there is a store to test with; in CI there has to be one. */
export const hasStore = redisProgram() !== undefined || process.env["CI"] !== undefined

type Options = Partial<Parameters<typeof openLimits>[0]> & {
  readonly now?: () => number
  readonly onAway?: (reason: unknown) => void
  readonly onBack?: () => void
}

const fail = (): never => {
  throw new Error("the store went away")
}

/** Limits of one replica of the service `relay`: in this process, or with a `url` in that store. */
export const open = ({ now = () => performance.now(), onAway = fail, onBack = fail, ...settings }: Options) =>
  openLimits(
    { url: undefined, prefix: "test", timeoutMs: 5000, replicas: 1, ...settings },
    {
      service: "relay",
      replicaId: crypto.randomUUID(),
      now,
      connect: () => import("redis"),
      log: { warn: (line) => onAway("reason" in line ? line.reason : line), info: onBack },
      call: (_name, _attributes, work) => work(),
    },
  ) satisfies Promise<Limits>
