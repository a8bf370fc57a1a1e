import { createPlatform, SvcError } from "@svc/client"
import { z } from "zod"
import type { Polling } from "./follow.ts"

const position = z.object({ next: z.number() })

export type PublishedStack = { readonly name: string; readonly version: number; readonly ast: unknown }

export type RegistryReader = Polling & {
  /** Called for a new stack or version. */
  readonly onStack: (stack: PublishedStack) => void
  readonly onGone: (name: string) => void
  /** Called when all stacks have been read. */
  readonly onLoaded: () => void
}

const pollMs = 1_000
const pageSize = 100

/** Follows the public stacks of a platform until the signal aborts: by its feed of changes, or by polling if it has none. */
export const followRegistry = async (apiUrl: string, reader: RegistryReader): Promise<void> => {
  const { onStack, onGone, onLoaded, onProblem, sleep, signal } = reader
  const { registry } = createPlatform({ apiUrl })
  const versions = new Map<string, string>()

  type Listed = Awaited<ReturnType<typeof registry.get>>
  const refresh = async ({ name, version, content_hash }: Listed): Promise<void> => {
    const label = `${version} ${content_hash}`
    if (versions.get(name) === label) return
    onStack({ name, version, ast: (await registry.ast(name)).ast_payload })
    versions.set(name, label)
  }
  const forget = (name: string): void => {
    if (versions.delete(name)) onGone(name)
  }

  const readAll = async (): Promise<void> => {
    const stacks: Listed[] = []
    for (let more = true; more;) {
      const page = await registry.list({ limit: pageSize, offset: stacks.length })
      stacks.push(...page)
      more = page.length === pageSize
    }
    for (const stack of stacks) await refresh(stack)
    for (const name of versions.keys()) if (!stacks.some((stack) => stack.name === name)) forget(name)
    onLoaded()
  }

  const readOne = async (name: string): Promise<void> => {
    try {
      await refresh(await registry.get(name))
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== "stack-not-found") throw error
      forget(name)
    }
  }

  while (!signal.aborted) {
    try {
      // Read before the list, so that no change in between is missed.
      const newest = await fetch(`${apiUrl}/api/registry/changes?limit=1`, { signal: AbortSignal.timeout(5_000) })
      const { data } = position.safeParse(newest.ok ? await newest.json() : undefined)
      await readAll()
      if (data !== undefined) {
        for await (const { stack } of registry.changes({ after: data.next, signal })) await readOne(stack)
      }
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error))
    }
    await sleep(pollMs)
  }
}
