import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { beforeTests } from "../../../test/start-service.ts"

type Files = Readonly<Record<string, string | Uint8Array>>

/** Writes files by their paths below a folder. */
export const writeFiles = async (dir: string, files: Files): Promise<void> => {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, file)), { recursive: true })
    await writeFile(join(dir, file), text)
  }
}

export const writePages = (dir: string, others: Files = {}): Promise<void> =>
  writeFiles(dir, {
    "index.md": "# Fixture docs\n\nAll pages for the tests.\n",
    "guides/index.md": "# Guides\n\nHow to do things.\n",
    "guides/one.md": "---\ntitle: One\ndescription: The first guide.\n---\n# One\n\nUnique text of guide one.\n",
    "mit leerzeichen.md": "# Leerzeichen\n\nText.\n",
    "mcp.md": "# A page called mcp\n",
    "skill.md": "---\nname: platform\ndescription: What it does.\n---\n# Skill\n",
    "agent.md": "# Bootstrap\n\nRun this.\n",
    "skills/svc/SKILL.md": "---\nname: svc\ndescription: Routing.\n---\n# Routing\n",
    ...others,
  })

/** A folder of these pages for all tests of a file. */
export const pagesOfFile = (others?: Files) =>
  beforeTests(
    async () => {
      const dir = await mkdtemp(join(tmpdir(), "svc-docs-"))
      await writePages(dir, others)
      return { dir }
    },
    ({ dir }) => rm(dir, { recursive: true }),
  )
