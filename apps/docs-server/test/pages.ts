import { mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** Makes a small folder of pages of every kind. */
export const fixturePages = async (folder?: string): Promise<string> => {
  const dir = folder ?? (await mkdtemp(join(tmpdir(), "svc-docs-")))
  const files = {
    "index.md": "# Fixture docs\n\nAll pages for the tests.\n",
    "guides/index.md": "# Guides\n\nHow to do things.\n",
    "guides/one.md": "---\ntitle: One\ndescription: The first guide.\n---\n# One\n\nUnique text of guide one.\n",
    "mit leerzeichen.md": "# Leerzeichen\n\nText.\n",
    "mcp.md": "# A page called mcp\n",
    "skill.md": "---\nname: platform\ndescription: What it does.\n---\n# Skill\n",
    "agent.md": "# Bootstrap\n\nRun this.\n",
    "skills/svc/SKILL.md": "---\nname: svc\ndescription: Routing.\n---\n# Routing\n",
  }
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, file)), { recursive: true })
    await writeFile(join(dir, file), text)
  }
  return dir
}
