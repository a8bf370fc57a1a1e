import { createHash } from "node:crypto"
import type { SkillIndex } from "@svc/client"
import { isObject } from "@svc/common/json-object"
import type { Context } from "../command.ts"
import { CliError } from "../errors.ts"
import { type Answer, call, failureOf } from "../services/api.ts"

/** The tool's skills: choosing one, reading streams, building stacks. */
export const skillNames = ["svc", "svc-consume", "svc-build"] as const

export type Skill = { readonly name: (typeof skillNames)[number]; readonly content: Uint8Array }

const get = async ({ env }: Pick<Context, "env">, base: string, path: string): Promise<Answer> => {
  const headers = { accept: "application/json, text/markdown;q=0.9" }
  const answer = await call({ service: "docs", base, env }, path, { headers })
  if (answer.status !== 200) throw failureOf(answer)
  return answer
}

const refuse = (docsUrl: string, why: string): CliError =>
  new CliError("invalid-skill-index", `The skill index of ${docsUrl} ${why}.`)

/** The path of a listed skill. Only the path counts: the index may know its server by another name, such as localhost. */
const pathOf = (listed: string, indexUrl: string, docsUrl: string): string => {
  const url = listed && URL.canParse(listed, indexUrl) ? new URL(listed, indexUrl) : undefined
  if (url === undefined) throw refuse(docsUrl, "has an entry without url")
  return url.pathname + url.search
}

/**
 * The three skill files, each checked against the SHA-256 digest in the index. Other names in the index are ignored, so that an
 * index can't choose where a file is written.
 */
export const fetchSkills = async (context: Pick<Context, "env">, docsUrl: string): Promise<Skill[]> => {
  const indexPath = "/.well-known/agent-skills/index.json"
  const { body } = await get(context, docsUrl, indexPath)
  const { skills }: Partial<SkillIndex> = isObject(body) ? body : {}
  if (!Array.isArray(skills)) throw refuse(docsUrl, "isn't a list of skills")
  // An index is checked member by member: what it names is written to files.
  const entries: readonly Partial<SkillIndex["skills"][number]>[] = skills.map((entry) => Object(entry))
  if (entries.some(({ name }) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name ?? ""))) {
    throw refuse(docsUrl, "has an entry with an invalid name")
  }
  return Promise.all(
    skillNames.map(async (name): Promise<Skill> => {
      const [entry, ...others] = entries.filter((one) => one.name === name)
      if (entry === undefined || others.length > 0) throw refuse(docsUrl, `doesn't list ${name} once`)
      const { type = "skill-md", digest: listed = "", url = "" } = entry
      if (type !== "skill-md") throw refuse(docsUrl, `has a type for ${name} that isn't skill-md`)
      const digest = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(listed)?.[1]?.toLowerCase()
      if (digest === undefined) throw refuse(docsUrl, `has no sha256 digest of ${name}`)
      const path = pathOf(url, docsUrl + indexPath, docsUrl)
      const { bytes: content } = await get(context, new URL(docsUrl).origin, path)
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
