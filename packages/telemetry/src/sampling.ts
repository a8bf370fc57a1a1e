import { type Context, createContextKey, ROOT_CONTEXT, trace } from "@opentelemetry/api"
import type { Sampler } from "@opentelemetry/sdk-trace"
import { ConfigError } from "@svc/config"
import { type Env, valueOf } from "./variables.ts"

const doubted = createContextKey("the parent's sampled flag does not count")

/** A context whose parent only names the trace: anybody can set a flag, and each trace costs. */
export const withDoubt = (context: Context): Context => context.setValue(doubted, true)

const decided = createContextKey("the trace is kept")

/** A context for a span of which the sampler has said already that it is kept. */
export const withDecision = (context: Context): Context => context.setValue(decided, true)

/** Decides which traces are kept. `mayKeep` says cheaply of most ids that a trace which begins here is not. */
export type HeadSampler = Sampler & { readonly mayKeep: (traceId: string) => boolean }

const codeOfA = 97

/** A lower-case hexadecimal digit's value. */
const digit = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code < codeOfA ? code - 48 : code - codeOfA + 10
}

/**
 * The SDK keeps a trace when its id's four 32-bit words, each XORed with the others, make a number in the ratio's part of all.
 * The first of that number's four bytes tells of nearly all ids that they are not in it.
 */
const mayBeIn =
  (ratio: number) =>
  (id: string): boolean =>
    ((digit(id, 0) ^ digit(id, 8) ^ digit(id, 16) ^ digit(id, 24)) << 4) +
      (digit(id, 1) ^ digit(id, 9) ^ digit(id, 17) ^ digit(id, 25)) <
    ratio * 256

const ratioOf = (env: Env): number => {
  const text = valueOf(env, "OTEL_TRACES_SAMPLER_ARG")
  const ratio = text === undefined ? 0.01 : Number(text)
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError(["OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1"])
  return ratio
}

/** Which traces are kept, as OTEL_TRACES_SAMPLER says: by default the caller's choice, else one in a hundred. */
export const createSampler = async (env: Env): Promise<HeadSampler> => {
  const sdk = await import("@opentelemetry/sdk-trace")
  const { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, RandomIdGenerator, TraceIdRatioBasedSampler } = sdk
  const name = valueOf(env, "OTEL_TRACES_SAMPLER") ?? "parentbased_traceidratio"
  const roots: Readonly<Record<string, () => [Sampler, HeadSampler["mayKeep"]]>> = {
    always_on: () => [new AlwaysOnSampler(), () => true],
    always_off: () => [new AlwaysOffSampler(), () => false],
    traceidratio: () => {
      const ratio = ratioOf(env)
      return [new TraceIdRatioBasedSampler(ratio), mayBeIn(ratio)]
    },
  }
  const [root, mayKeep] = roots[name.replace(/^parentbased_/, "")]?.() ?? []
  if (root === undefined || mayKeep === undefined) {
    throw new ConfigError([`OTEL_TRACES_SAMPLER: must be ${Object.keys(roots).join(", ")} or one with parentbased_`])
  }
  const trusting = name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root
  const ids = new RandomIdGenerator()
  return {
    mayKeep,
    shouldSample: (context, traceId, ...rest) => {
      if (context.getValue(decided) === true) return { decision: sdk.SamplingDecision.RECORD_AND_SAMPLED }
      // Not by the caller's trace id either, which can be chosen so that it is always kept.
      // What this process itself began goes on as it began.
      return context.getValue(doubted) === true && trace.getSpanContext(context)?.isRemote === true
        ? root.shouldSample(ROOT_CONTEXT, ids.generateTraceId(), ...rest)
        : trusting.shouldSample(context, traceId, ...rest)
    },
    toString: () => name,
  }
}
