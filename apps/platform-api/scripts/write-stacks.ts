// Writes the sample stacks; `oxfmt` then lays them out.
import { writeFileSync } from "node:fs"
import { sampleStacks } from "../stacks/index.ts"
import { sampleAsts } from "../stacks/source/samples.ts"

for (const { name, file } of sampleStacks) writeFileSync(file, JSON.stringify(sampleAsts[name]))
