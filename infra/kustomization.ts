// Resolves the part of kustomize that the manifests here use, so that they can be checked without it. A key that is not
// known here is refused, not passed over.
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { parse, parseAllDocuments } from "yaml"

import { envEntries } from "./settings.ts"

export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

type MapGenerator = {
  readonly name: string
  readonly behavior?: "merge"
  readonly literals?: readonly string[]
  readonly envs?: readonly string[]
}

type Kustomization = {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly resources: readonly string[]
  /** Files of the same shape as a manifest: maps are merged, all else is replaced. */
  readonly patches?: readonly { readonly path: string }[]
  readonly images?: readonly { readonly name: string; readonly newName: string; readonly newTag: string }[]
  readonly configMapGenerator?: readonly MapGenerator[]
}

type ConfigMap = Manifest & { readonly data: Readonly<Record<string, string>> }

const known = new Set(["apiVersion", "kind", "namespace", "resources", "patches", "images", "configMapGenerator"])
const clusterWide = new Set(["Namespace"])

const readManifests = (path: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(path, "utf8"), { merge: false }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings]
    if (problem !== undefined) throw new Error(`${path}: ${problem.message}`)
    return document.toJS() as Manifest
  })

/** Renames images wherever a container names one. */
const withImages = <T>(value: T, images: NonNullable<Kustomization["images"]>): T => {
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit)
    if (typeof node !== "object" || node === null) return node
    return Object.fromEntries(
      Object.entries(node).map(([key, inner]) => {
        const image = key === "image" ? images.find(({ name }) => name === String(inner).split(":")[0]) : undefined
        return [key, image === undefined ? visit(inner) : `${image.newName}:${image.newTag}`]
      }),
    )
  }
  return visit(value) as T
}

const generated = (folder: string, { literals = [], envs = [] }: MapGenerator): Record<string, string> => {
  const text = [...literals, ...envs.map((file) => readFileSync(join(folder, file), "utf8"))].join("\n")
  return Object.fromEntries(envEntries(text))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const merged = (value: unknown, patch: unknown): unknown => {
  if (!isRecord(value) || !isRecord(patch)) return patch
  const changed = Object.entries(patch).map(([key, inner]) => [key, merged(value[key], inner)])
  return { ...value, ...(Object.fromEntries(changed) as Record<string, unknown>) }
}

const isSame = (a: Manifest, b: Manifest): boolean =>
  a.apiVersion === b.apiVersion && a.kind === b.kind && a.metadata.name === b.metadata.name

/** Lays patches over the manifests that they name. Lists would be replaced whole, so a patch may hold none. */
const withPatches = (manifests: readonly Manifest[], patches: readonly Manifest[]): readonly Manifest[] => {
  for (const patch of patches) {
    if (!manifests.some((one) => isSame(one, patch))) throw new Error(`there is no ${patch.metadata.name} to patch`)
    if (/[[]/.test(JSON.stringify(patch))) throw new Error(`the patch of ${patch.metadata.name} holds a list`)
  }
  return manifests.map((one) =>
    patches.filter((patch) => isSame(one, patch)).reduce((so, patch) => merged(so, patch) as Manifest, one),
  )
}

const isMap = (manifest: Manifest): manifest is ConfigMap => manifest.kind === "ConfigMap"

/** What `kubectl kustomize FOLDER` prints, but for its order and the hashes in the names of config maps. */
export const renderKustomization = (folder: string): readonly Manifest[] => {
  const kustomization = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")) as Kustomization
  const strange = Object.keys(kustomization).filter((key) => !known.has(key))
  if (strange.length > 0) throw new Error(`${folder}: ${strange.join(", ")} is not known here`)

  const found = kustomization.resources.flatMap((resource) => {
    const path = join(folder, resource)
    return statSync(path).isDirectory() ? renderKustomization(path) : readManifests(path)
  })
  const patches = (kustomization.patches ?? []).flatMap(({ path }) => readManifests(join(folder, path)))
  const resources = withPatches(found, patches)
  const maps = new Map(resources.filter(isMap).map((map) => [map.metadata.name, map]))
  for (const generator of kustomization.configMapGenerator ?? []) {
    const existing = maps.get(generator.name)
    if ((existing === undefined) !== (generator.behavior === undefined)) {
      throw new Error(
        `${folder}: ${generator.name} is ${existing === undefined ? "not there to merge" : "there already"}`,
      )
    }
    const data = { ...existing?.data, ...generated(folder, generator) }
    const metadata = existing?.metadata ?? { name: generator.name }
    maps.set(generator.name, { apiVersion: "v1", kind: "ConfigMap", metadata, data })
  }
  return [...resources.filter((resource) => !isMap(resource)), ...maps.values()].map((resource) => {
    const metadata = clusterWide.has(resource.kind)
      ? resource.metadata
      : { ...resource.metadata, namespace: kustomization.namespace }
    return withImages({ ...resource, metadata }, kustomization.images ?? [])
  })
}
