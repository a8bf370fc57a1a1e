import { readFile } from "node:fs/promises"
import { ConfigError, misreading } from "./load-config.ts"

/**
 * Reads a text from a variable, or from the file that `<name>_FILE` names; undefined if neither is set. Throws ConfigError,
 * which names the variable.
 * @param read parses the text. The message of an error that it throws is shown, so it must not contain the text
 */
export const textOrFile = async <T>(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  read: (text: string) => Promise<T>,
): Promise<T | undefined> => {
  const inline = env[name]?.trim() ?? ""
  const file = env[`${name}_FILE`]?.trim() ?? ""
  if (inline === "" && file === "") return undefined
  const variable = inline === "" ? `${name}_FILE` : name
  const isQuoted = misreading(inline) ?? misreading(file)
  if (isQuoted !== undefined) throw new ConfigError([`${variable}: ${isQuoted}`])
  const readable = async (): Promise<string> =>
    readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      throw new ConfigError([`${variable}: the file can't be read (${error.code})`])
    })
  const content = inline === "" ? await readable() : inline
  try {
    return await read(content)
  } catch (error) {
    throw new ConfigError([`${variable}: ${error instanceof Error ? error.message : "cannot be read"}`])
  }
}

/** Waits for both, and throws one ConfigError with the problems of both. */
export const readBoth = async <A, B>(first: () => A | Promise<A>, second: () => B | Promise<B>): Promise<[A, B]> => {
  const both = [Promise.try(first), Promise.try(second)] as const
  const problems = (await Promise.allSettled(both)).flatMap((result) => {
    if (result.status === "fulfilled") return []
    if (!(result.reason instanceof ConfigError)) throw result.reason
    return result.reason.problems
  })
  if (problems.length > 0) throw new ConfigError(problems)
  return Promise.all(both)
}
