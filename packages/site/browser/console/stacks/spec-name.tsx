import type { Spec } from "@svc/client"
import { brief } from "../text.ts"
import { useRead } from "../use-read.ts"

/** The names of the account's specs: people don't know ids. */
export const useSpecNames = (): ((id: number) => string) => {
  const { body } = useRead<readonly Spec[]>("/api/specs?limit=100")
  return (id) => brief(body?.find((spec) => spec.id === id)?.name ?? `spec ${id}`, 64)
}

export const SpecName = ({ id }: { readonly id: number }) => <>{useSpecNames()(id)}</>
