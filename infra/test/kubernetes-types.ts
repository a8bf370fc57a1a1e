// Checks manifests against Kubernetes' own API description, in the form of its TypeScript types: the compiler finds
// unknown fields, missing ones and values of a wrong type.
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

import type { Manifest } from "./kustomization.ts"

const modules = join(import.meta.dirname, "../../node_modules")

/** The module of an API version: apps/v1, core/v1 for v1, networking/v1 for networking.k8s.io/v1. */
const moduleOf = (apiVersion: string): string => {
  const [group = "", version] = apiVersion.split("/")
  return version === undefined ? `core/${group}` : `${group.split(".")[0]}/${version}`
}

/** The problems of manifests, one line each; empty if there are none. */
export const typeProblems = async (manifests: readonly Manifest[]): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), "svc-kubernetes-"))
  try {
    await mkdir(join(folder, "src"))
    const compilerOptions = {
      module: "esnext",
      moduleResolution: "bundler",
      noEmit: true,
      paths: { "kubernetes-types/*": [join(modules, "kubernetes-types/*")] },
      strict: true,
      types: [],
    }
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }))
    const sources = manifests.map((manifest, index) => {
      const { apiVersion, kind, metadata } = manifest
      const source = `import type { ${kind} } from "kubernetes-types/${moduleOf(apiVersion)}"
export const manifest: ${kind} = ${JSON.stringify(manifest, null, 2)}
`
      return writeFile(join(folder, "src", `${index}-${kind}-${metadata.name}.ts`), source)
    })
    await Promise.all(sources)
    const compiler = join(modules, ".bin/tsc")
    const told = await promisify(execFile)(compiler, ["--project", folder, "--pretty", "false"], { cwd: folder }).then(
      () => "",
      (error: { stdout?: string; message: string }) => error.stdout || error.message,
    )
    return told.split("\n").filter((line) => line.trim() !== "")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
