import { execFileSync, spawnSync } from "node:child_process"
import { join } from "node:path"
import type { Deployment } from "kubernetes-types/apps/v1.js"
import type { Job } from "kubernetes-types/batch/v1.js"
import type { ConfigMap, Secret, Service, ServiceAccount } from "kubernetes-types/core/v1.js"
import type { LabelSelector } from "kubernetes-types/meta/v1.js"
import type { Ingress, NetworkPolicy } from "kubernetes-types/networking/v1.js"
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.js"
import { parseAllDocuments } from "yaml"

export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** Whether the manifests can't be rendered here, because kubectl is missing. In CI that is a failure. */
export const noKubectl = spawnSync("kubectl", ["version", "--client"]).status !== 0 && process.env["CI"] === undefined

export type Labels = Readonly<Record<string, string>>
export const selects = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => operator === "In" && values.includes(labels[key] ?? ""))

// What kustomize appends to the names of generated config maps.
const nameHash = /-[bcdfghkmt2456789]{10}$/gm

/** The output of `kubectl kustomize` for a folder in infra/kubernetes, without the hash in the names of config maps. */
export const renderKustomization = (folder: string): readonly Manifest[] => {
  if (noKubectl) return []
  const path = join(import.meta.dirname, "../kubernetes", folder)
  const text = execFileSync("kubectl", ["kustomize", path], { encoding: "utf8" })
  return parseAllDocuments(text.replaceAll(nameHash, "")).map((document) => document.toJS() as Manifest)
}

type Kinds = {
  ConfigMap: ConfigMap
  Deployment: Deployment
  Ingress: Ingress
  Job: Job
  NetworkPolicy: NetworkPolicy
  PodDisruptionBudget: PodDisruptionBudget
  Secret: Secret
  Service: Service
  ServiceAccount: ServiceAccount
}

/** Looks up manifests by kind and name. `typeProblems` checks that they have their kind's type. */
export const lookUp = (manifests: readonly Manifest[]) => {
  const ofKind = <K extends keyof Kinds>(kind: K): readonly Kinds[K][] =>
    manifests.filter((manifest) => manifest.kind === kind) as unknown[] as Kinds[K][]
  const find = <K extends keyof Kinds>(kind: K, name: string): Kinds[K] => {
    const found = ofKind(kind).find(({ metadata }) => metadata?.name === name)
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
    return found
  }
  return { ofKind, find }
}
