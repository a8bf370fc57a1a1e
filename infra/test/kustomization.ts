import { execFileSync, spawnSync } from "node:child_process"
import { join } from "node:path"
import { parseAllDocuments } from "yaml"

export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** Whether the manifests can't be rendered here: kubectl is missing. In CI that is a failure. */
export const noKubectl = spawnSync("kubectl", ["version", "--client"]).status !== 0 && process.env["CI"] === undefined

// What kustomize appends to the names of generated config maps.
const nameHash = /-[bcdfghkmt2456789]{10}$/gm

/** What `kubectl kustomize` makes of a folder in infra/kubernetes, config maps without the hash in their names. */
export const renderKustomization = (folder: string): readonly Manifest[] => {
  if (noKubectl) return []
  const path = join(import.meta.dirname, "../kubernetes", folder)
  const text = execFileSync("kubectl", ["kustomize", path], { encoding: "utf8" })
  return parseAllDocuments(text.replaceAll(nameHash, "")).map((document) => document.toJS() as Manifest)
}
