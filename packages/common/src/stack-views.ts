/** `{"Sort": {"key": {"segments": ["a", "b"]}, "order": "desc"}}` as `Sort(key a.b, order desc)`. */
const stepText = (step: unknown): string => {
  const value = (one: unknown): string => {
    if (typeof one === "string") return one
    const { segments } = Object(one) as { readonly segments?: unknown }
    return Array.isArray(segments) ? segments.join(".") : JSON.stringify(one)
  }
  if (typeof step !== "object" || step === null) return String(step)
  return Object.entries(step)
    .map(([kind, given]) => {
      const parts = typeof given === "object" && given !== null ? Object.entries(given) : undefined
      return `${kind}(${parts === undefined ? value(given) : parts.map(([key, one]) => `${key} ${value(one)}`).join(", ")})`
    })
    .join(" ")
}

/** The steps of a view's pipeline as text, one each. */
export const pipelineSteps = (pipeline: readonly unknown[]): string[] => pipeline.map(stepText)

type Entity = { readonly name: string; readonly views: readonly { readonly id: string }[] }

/** The id of the first view that a stack defines itself, else of the list of its first entity. */
export const firstView = (entities: readonly Entity[]): string => {
  const own = entities.flatMap(({ name, views }) =>
    views.map(({ id }) => id).filter((id) => id !== `${name}/list` && id !== `${name}/state`),
  )
  return own[0] ?? `${entities[0]?.name}/list`
}
