import { Session } from "node:inspector/promises"

/** How often the engine's own searches are asked, and how far they go: no coverage sees inside them. */
const watchSearches = () => {
  let characters = 0
  const strings = Object.getOwnPropertyDescriptors(String.prototype)
  const patterns = Object.getOwnPropertyDescriptors(RegExp.prototype)
  const indexOf = Function.prototype.call.bind(strings.indexOf.value as never) as (...args: unknown[]) => number
  const exec = Function.prototype.call.bind(patterns.exec.value as never) as (
    ...args: unknown[]
  ) => RegExpExecArray | null
  const searched = (text: string, what: string, from = 0): number => {
    const found = indexOf(text, what, from)
    characters += 1 + Math.max(0, (found === -1 ? text.length : found) - from)
    return found
  }
  Object.assign(String.prototype, {
    indexOf(this: string, what: string, from?: number) {
      return searched(this, what, from)
    },
    includes(this: string, what: string, from?: number) {
      return searched(this, what, from) !== -1
    },
  })
  Object.assign(RegExp.prototype, {
    exec(this: RegExp, text: string) {
      const from = this.global || this.sticky ? this.lastIndex : 0
      const found = exec(this, text)
      const missed = this.sticky ? from : text.length
      characters += 1 + (found === null ? missed : found.index + found[0].length) - from
      return found
    },
  })
  return {
    characters: () => characters,
    stop: () => {
      Object.assign(String.prototype, { indexOf: strings.indexOf.value, includes: strings.includes.value })
      Object.assign(RegExp.prototype, { exec: patterns.exec.value })
    },
  }
}

/**
 * Counts how much work a function does: how often each block of our own code and of the parsers and validators is run, and
 * how many characters the engine's own searches pass (what they do inside one match, nobody counts). The same on any
 * machine.
 */
export const createStepCounter = async () => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  return {
    count: async (work: () => unknown): Promise<number> => {
      // What ran before counts until it is asked for.
      await session.post("Profiler.takePreciseCoverage")
      const searches = watchSearches()
      try {
        await work()
      } finally {
        searches.stop()
      }
      let steps = searches.characters()
      const { result } = await session.post("Profiler.takePreciseCoverage")
      for (const { url, functions } of result)
        if (/(?:docs-server|site)\/src|markdown-it|modelcontextprotocol|\/zod\//.test(url))
          for (const { ranges } of functions) for (const { count } of ranges) steps += count
      return steps
    },
    stop: () => session.disconnect(),
  }
}
