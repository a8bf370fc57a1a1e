import { ConfigError } from "@svc/config"

export type Env = Readonly<Record<string, string | undefined>>

/** A standard OTEL_* variable; one that is set but empty counts as unset. */
export const valueOf = (env: Env, name: string): string | undefined => {
  const text = env[name]?.trim()
  return text === "" ? undefined : text
}

/** Whole milliseconds above 0. Throws ConfigError. */
export const millisecondsOf = (env: Env, name: string, fallback: number): number => {
  const text = valueOf(env, name)
  if (text === undefined) return fallback
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new ConfigError([`${name}: must be whole milliseconds, above 0`])
  return Number(text)
}

/** The names in a comma-separated list, each of which must be one of `known`. Throws ConfigError. */
export const namesOf = <const Name extends string>(
  env: Env,
  name: string,
  fallback: Name,
  known: readonly Name[],
): readonly Name[] =>
  (valueOf(env, name) ?? fallback).split(",").map((word) => {
    const found = known.find((one) => one === word.trim())
    if (found === undefined)
      throw new ConfigError([`${name}: ${JSON.stringify(word.trim())} is none of ${known.join(", ")}`])
    return found
  })

/** How the OTLP exporters speak of one kind of signal. Throws ConfigError. */
export const protocolOf = (env: Env, signal: "METRICS" | "TRACES"): "http/protobuf" | "http/json" => {
  const own = `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`
  const name = valueOf(env, own) === undefined ? "OTEL_EXPORTER_OTLP_PROTOCOL" : own
  const protocol = valueOf(env, name) ?? "http/protobuf"
  if (protocol === "http/protobuf" || protocol === "http/json") return protocol
  throw new ConfigError([`${name}: must be http/protobuf or http/json`])
}
