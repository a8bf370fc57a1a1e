import { useState } from "preact/hooks"
import type { AstFile } from "./ast-file.ts"
import { Draft } from "./draft.tsx"
import { DropZone } from "./drop-zone.tsx"

/** Publishes an AST file: dropped, checked, confirmed. */
export const Publish = () => {
  const [ast, setAst] = useState<AstFile>()
  // Each file is a draft of its own.
  const [count, setCount] = useState(0)
  return (
    <section aria-label="Publish">
      <h3>Publish</h3>
      <DropZone
        onFile={(file) => {
          setAst(file)
          setCount(count + 1)
        }}
      />
      {ast !== undefined && <Draft key={count} ast={ast} onDiscard={() => setAst(undefined)} />}
    </section>
  )
}
