import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { answerTypes } from "../scripts/answer-types.ts"

// The formatter breaks lines and sets brackets and bars; none of them is part of a type.
const bare = (text: string): string => text.replaceAll(/[\s()|]/g, "")

test("the types of responses are those of the services' documents; `pnpm openapi` writes them", async () => {
  const committed = await readFile(join(import.meta.dirname, "../src/generated/answers.ts"), "utf8")
  // The two whole texts side by side would tell nobody more.
  expect(bare(committed) === bare(await answerTypes())).toBe(true)
})
