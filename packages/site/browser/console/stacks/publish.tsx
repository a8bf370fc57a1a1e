import { useEffect, useState } from "preact/hooks"
import { type AstFile, readAstFile } from "./publishing.ts"
import { Draft } from "./draft.tsx"

const DropZone = ({ onFile }: { readonly onFile: (ast: AstFile) => void }) => {
  const [isOver, setOver] = useState(false)
  const [fault, setFault] = useState("")
  const take = async (files: FileList | null | undefined): Promise<void> => {
    setOver(false)
    const [file, another] = [...(files ?? [])]
    if (file === undefined) return
    if (another !== undefined) return setFault("Drop one file: each is checked and published by itself.")
    const read = await readAstFile(file).catch(() => "The file can't be read.")
    setFault(typeof read === "string" ? read : "")
    if (typeof read !== "string") onFile(read)
  }
  // A file that falls beside the place would be opened in place of the console.
  useEffect(() => {
    const ignore = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault()
    }
    addEventListener("dragover", ignore)
    addEventListener("drop", ignore)
    return () => {
      removeEventListener("dragover", ignore)
      removeEventListener("drop", ignore)
    }
  }, [])
  return (
    <div
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        void take(event.dataTransfer?.files)
      }}
    >
      <label>
        Drop an AST file here, or choose one{" "}
        <input
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget }) => {
            void take(currentTarget.files)
            // The same file can be chosen again after a change.
            currentTarget.value = ""
          }}
        />
      </label>
      <p class="muted" role="status">
        {fault || "It is checked first. Nothing is published before you confirm."}
      </p>
    </div>
  )
}

export type DraftProps = {
  readonly draft: AstFile | undefined
  readonly setDraft: (file: AstFile | undefined) => void
}

export const Publish = ({ draft, setDraft }: DraftProps) => (
  <section aria-label="Publish">
    <h3>Publish</h3>
    <DropZone onFile={setDraft} />
    {draft !== undefined && <Draft key={draft.readAt} ast={draft} onDiscard={() => setDraft(undefined)} />}
  </section>
)
