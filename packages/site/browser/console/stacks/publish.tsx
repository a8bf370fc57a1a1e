import type { AstFile } from "./ast-file.ts"
import { Draft } from "./draft.tsx"
import { DropZone } from "./drop-zone.tsx"

export type DraftProps = {
  readonly draft: AstFile | undefined
  readonly setDraft: (file: AstFile | undefined) => void
}

/** Publishes an AST file: dropped, checked, confirmed. */
export const Publish = ({ draft, setDraft }: DraftProps) => (
  <section aria-label="Publish">
    <h3>Publish</h3>
    <DropZone onFile={setDraft} />
    {draft !== undefined && <Draft key={draft.readAt} ast={draft} onDiscard={() => setDraft(undefined)} />}
  </section>
)
