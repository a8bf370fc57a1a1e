import { createHash } from "node:crypto"
import { isObject } from "@svc/common/json-object"
import { CliError } from "../errors.ts"
import { listOf, textOf } from "../output/json-value.ts"
import { type Answer, call, failureOf } from "../services/api.ts"

/** The tool's skills: choosing one, reading streams, building stacks. */
export const skillNames = ["svc", "svc-consume", "svc-build"] as const

export type Skill = { readonly name: (typeof skillNames)[number]; readonly content: Uint8Array }

const get = async (base: string, path: string, docsUrl: string): Promise<Answer> => {
  const answer = await call("docs", base, path, { headers: { accept: "application/json, text/markdown;q=0.9" } })
  if (answer.status !== 200) throw failureOf(answer, docsUrl)
  return answer
}

const refuse = (docsUrl: string, why: string): CliError =>
  new CliError("invalid-skill-index", `The skill index of ${docsUrl} ${why}.`)

/** The path of a listed skill. Only the path counts: the index may know its server by another name, such as localhost. */
const pathOf = (listed: string, indexUrl: string, docsUrl: string): string => {
  const url = listed !== "" && URL.canParse(listed, indexUrl) ? new URL(listed, indexUrl) : undefined
  if (url === undefined) throw refuse(docsUrl, "has an entry without url")
  return url.pathname + url.search
}

/**
 * The three skill files, each checked against the SHA-256 digest in the index. Other names in the index are ignored, so that an
 * index can't choose where a file is written.
 */
export const fetchSkills = async (docsUrl: string): Promise<Skill[]> => {
  const indexPath = "/.well-known/agent-skills/index.json"
  const { body: index } = await get(docsUrl, indexPath, docsUrl)
  if (!isObject(index) || !Array.isArray(index["skills"])) throw refuse(docsUrl, "isn't a list of skills")
  const entries = listOf(index, "skills")
  if (entries.some((entry) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(textOf(entry, "name")))) {
    throw refuse(docsUrl, "has an entry with an invalid name")
  }
  return Promise.all(
    skillNames.map(async (name): Promise<Skill> => {
      const [entry, ...others] = entries.filter((one) => textOf(one, "name") === name)
      if (entry === undefined || others.length > 0) throw refuse(docsUrl, `doesn't list ${name} once`)
      if (!["", "skill-md"].includes(textOf(entry, "type")))
        throw refuse(docsUrl, `has a type for ${name} that isn't skill-md`)
      const digest = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(textOf(entry, "digest"))?.[1]?.toLowerCase()
      if (digest === undefined) throw refuse(docsUrl, `has no sha256 digest of ${name}`)
      const path = pathOf(textOf(entry, "url"), docsUrl + indexPath, docsUrl)
      const { bytes: content } = await get(new URL(docsUrl).origin, path, docsUrl)
      if (createHash("sha256").update(content).digest("hex") !== digest) {
        throw new CliError(
          "skill-digest-mismatch",
          `The skill ${name} of ${docsUrl} doesn't match its digest in the index.`,
        )
      }
      return { name, content }
    }),
  )
}
