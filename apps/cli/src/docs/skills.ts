import { createHash } from "node:crypto"
import { type Answer, call, failureOf } from "../services/api.ts"
import { CliError } from "../errors.ts"
import { isObject } from "@svc/common/json-object"
import { listOf, textOf } from "../output/json-value.ts"

/** The skills that belong to the tool: which one to use, reading streams, building stacks. */
const skillNames = ["svc", "svc-consume", "svc-build"] as const

export type Skill = { readonly name: (typeof skillNames)[number]; readonly content: Uint8Array }

const get = async (url: string, docsUrl: string): Promise<Answer> => {
  const service = { name: "The documentation", url: docsUrl, flag: "docs-url", variable: "SVC_DOCS_URL" }
  const answer = await call(url, service, { headers: { accept: "application/json, text/markdown;q=0.9" } })
  if (answer.status !== 200) throw failureOf(answer, docsUrl)
  return answer
}

const refuse = (docsUrl: string, why: string): CliError =>
  new CliError("invalid-skill-index", `The skill index of ${docsUrl} ${why}.`)

/** Where a listed skill is: on the documentation server itself, whatever the index says. */
const skillUrl = (listed: string, indexUrl: string, docsUrl: string): string => {
  const url = listed !== "" && URL.canParse(listed, indexUrl) ? new URL(listed, indexUrl) : undefined
  if (url === undefined) throw refuse(docsUrl, "has an entry without url")
  // The index may spell its own origin otherwise (localhost, 127.0.0.1); its path is what counts.
  return new URL(docsUrl).origin + url.pathname + url.search
}

/**
 * The three skill files, each checked against the SHA-256 in the index. Names other than the three are never used, so
 * nothing in an index can choose where a file is written.
 */
export const fetchSkills = async (docsUrl: string): Promise<Skill[]> => {
  const indexUrl = `${docsUrl}/.well-known/agent-skills/index.json`
  const { body: index } = await get(indexUrl, docsUrl)
  if (!isObject(index) || !Array.isArray(index["skills"])) throw refuse(docsUrl, "is no list of skills")
  const entries = listOf(index, "skills")
  if (entries.some((entry) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(textOf(entry, "name")))) {
    throw refuse(docsUrl, "has an entry whose name is not a skill's name")
  }
  return Promise.all(
    skillNames.map(async (name): Promise<Skill> => {
      const found = entries.filter((entry) => textOf(entry, "name") === name)
      const [entry] = found
      if (entry === undefined || found.length > 1) throw refuse(docsUrl, `does not list ${name} once`)
      if (!["", "skill-md"].includes(textOf(entry, "type")))
        throw refuse(docsUrl, `has ${name} as something else than a file`)
      const digest = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(textOf(entry, "digest"))?.[1]?.toLowerCase()
      if (digest === undefined) throw refuse(docsUrl, `has no sha256 digest of ${name}`)
      const { bytes: content } = await get(skillUrl(textOf(entry, "url"), indexUrl, docsUrl), docsUrl)
      if (createHash("sha256").update(content).digest("hex") !== digest) {
        throw new CliError("skill-digest-mismatch", `The skill ${name} of ${docsUrl} is not what its index says.`)
      }
      return { name, content }
    }),
  )
}
