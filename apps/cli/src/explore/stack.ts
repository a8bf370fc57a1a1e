import type { Context } from "../command.ts"
import { CliError } from "../errors.ts"
import { type Answer, type Api, callApi, callJson } from "../services/api.ts"

/** The path of a stack in the registry. A name that no stack can have never becomes part of a path. */
export const stackPath = (name: string, rest = ""): string => {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/i.test(name)) {
    throw new CliError("stack-not-found", `There is no stack named ${JSON.stringify(name.slice(0, 100))}.`)
  }
  // The registry's names are in lower case.
  return `/api/registry/${name.toLowerCase()}${rest}`
}

export const queryOf = (values: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
  return given.length === 0 ? "" : `?${given.join("&")}`
}

/** A stack with its schema, of the version that --at names. */
export const readSchema = async (context: Context, api: Api, name: string): Promise<Answer> =>
  callApi(api, stackPath(name, `/schema${queryOf({ version: context.options["at"] })}`))

export const readEntry = async (api: Api, name: string): Promise<unknown> => callJson(api, stackPath(name))
