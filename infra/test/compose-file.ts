import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"

export type ComposeService = {
  readonly image?: string
  readonly user?: string
  readonly read_only?: boolean
  readonly stop_grace_period?: string
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly ports?: readonly string[]
  readonly networks?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly env_file?: readonly string[]
  readonly secrets?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly deploy?: { readonly replicas?: number; readonly resources?: { readonly limits?: object } }
}
export type Compose = {
  readonly name: string
  readonly services: Readonly<Record<string, ComposeService>>
  readonly networks: Readonly<Record<string, { internal?: boolean; ipam?: { config: readonly { subnet: string }[] } }>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

export const readInfra = (file: string): string => readFileSync(join(import.meta.dirname, "..", file), "utf8")

/** A compose file with its variables filled in: by their defaults, or by `given`. @param filledIn gets their names */
export const readCompose = (file: string, filledIn = new Set<string>()): Compose => {
  const text = readInfra(file).replaceAll(
    /\$\{([A-Z_]+)(?::-([^}]*)|:\?[^}]*)\}/g,
    (_, name: string, fallback = "given") => {
      filledIn.add(name)
      return String(fallback)
    },
  )
  return parse(text, { merge: true }) as Compose
}
