// The page for newcomers, pasted into a shell as it stands: in the pinned Node, and in the machine's own, as old as 20.
// @module-tag long
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { startProcess } from "@svc/testing"
import { z } from "zod"
import { expect, test } from "vitest"
import { differences, shownJson } from "../apps/docs-server/test/content/compare-response.ts"
import { fencesOf } from "../apps/docs-server/test/content/steps.ts"
import { ownNodeFolder } from "./own-node.ts"
import { testInstance } from "./start-service.ts"

const instance = testInstance()

/** A JSON value with its fields, and the types of what they hold. */
const shapeOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
    : typeof value

test.each([
  ["the pinned Node", dirname(process.execPath)],
  ["the machine's Node", ownNodeFolder],
])(
  "getting-started works by copy and paste in %s, from an empty folder to the user's transfer in the stream",
  async (name, node) => {
    const page = await (await fetch(`${instance.docsUrl}/getting-started.md`)).text()
    // The chain of this test has another port; the page has no place where it could be set.
    const fences = fencesOf(page.replaceAll("http://localhost:8899", instance.chainUrl))
    const folder = join(instance.folder, name.replaceAll(/\W/g, "-"))
    await mkdir(folder)
    const outputOf = (index: number) => join(folder, `output-${index}`)
    const script = fences.flatMap(({ language, text }, index) =>
      language === "sh" ? [`{\n${text}} > '${outputOf(index)}'`] : [],
    )
    await writeFile(join(folder, "paste.sh"), script.join("\n"))
    const shell = startProcess("bash", ["-euo", "pipefail", "paste.sh"], {
      cwd: folder,
      // Nothing may come from a package registry.
      env: {
        HOME: folder,
        PATH: [node, process.env["PATH"]].join(delimiter),
        npm_config_registry: "http://127.0.0.1:9/",
      },
    })
    expect([await shell.exited, shell.stderr()]).toEqual([0, expect.any(String)])
    const values = new Map<string, string>()
    let last: unknown
    for (const [index, { language, text, line }] of fences.entries()) {
      if (language !== "json") continue
      const shown: unknown = JSON.parse(await readFile(outputOf(index - 1), "utf8"))
      expect(differences(shownJson(text), shown, values), `line ${line}: ${JSON.stringify(shown)}`).toEqual([])
      last = shown
    }
    const home = await (await fetch(`${instance.docsUrl}/index.md`)).text()
    const record = fencesOf(home).find(({ language }) => language === "json")?.text ?? ""
    expect(shapeOf(JSON.parse(record)), "the record of the home page").toEqual(
      shapeOf(z.object({ record: z.unknown() }).parse(last).record),
    )
  },
)
