import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { answerTypes } from "./answer-types.ts"

/** Writes src/generated/answers.ts anew: the types of the platform's answers, from its committed OpenAPI document. */
export const writeAnswerTypes = async (): Promise<void> => {
  const file = join(import.meta.dirname, "../src/generated/answers.ts")
  await writeFile(file, await answerTypes())
  await promisify(execFile)(join(import.meta.dirname, "../../../node_modules/.bin/oxfmt"), [file])
}
