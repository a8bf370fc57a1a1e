// Writes src/answers.ts, the types of the platform's answers, from its committed OpenAPI document.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { answerTypes } from "./answer-types.ts"

await writeFile(join(import.meta.dirname, "../src/answers.ts"), await answerTypes())
