import { useState } from "preact/hooks"
import { type AstFile, readAstFile } from "./ast-file.ts"

/** Takes an AST file, dropped or chosen. */
export const DropZone = ({ onFile }: { readonly onFile: (ast: AstFile) => void }) => {
  const [isOver, setOver] = useState(false)
  const [fault, setFault] = useState("")
  const take = async (file: File | undefined): Promise<void> => {
    setOver(false)
    if (file === undefined) return
    const read = await readAstFile(file).catch(() => "The file can't be read.")
    setFault(typeof read === "string" ? read : "")
    if (typeof read !== "string") onFile(read)
  }
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
        void take(event.dataTransfer?.files[0])
      }}
    >
      <label>
        Drop an AST file here, or choose one{" "}
        <input
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget }) => {
            void take(currentTarget.files?.[0])
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
