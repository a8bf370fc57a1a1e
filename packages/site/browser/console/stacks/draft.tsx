import type { Spec, StackCheck } from "@svc/client"
import { type Wish, checkAst, findSpec, isMoved, startRun, type AstFile } from "./publishing.ts"
import { useState } from "preact/hooks"
import { Choice, TextField } from "../../fields.tsx"
import { useApi } from "../api.ts"
import { Confirm } from "../confirm.tsx"
import { Failure } from "../failure.tsx"
import { brief } from "../text.ts"
import { useTry } from "../use-read.ts"
import { ChangesList } from "./changes-list.tsx"

const visibilities = Object.entries({
  private: "private: agents you name",
  global: "global: anyone with a key",
  public: "public: anyone",
} satisfies Record<Spec["visibility"], string>) as [Spec["visibility"], string][]

type Props = {
  readonly wish: Wish
  readonly isBusy: boolean
  readonly onChange: (wish: Wish) => void
  readonly onCheck: () => void
  readonly onDiscard: () => void
}

const DraftFields = ({ wish, isBusy, onChange, onCheck, onDiscard }: Props) => (
  <form
    class="fields"
    autocomplete="off"
    onSubmit={(event) => {
      event.preventDefault()
      onCheck()
    }}
  >
    <TextField
      label="Name in the registry"
      value={wish.name}
      pattern="[a-z0-9][a-z0-9\-]{0,62}"
      title="Lower-case letters, digits and hyphens"
      required
      onText={(name) => onChange({ ...wish, name })}
    />
    <TextField
      label="Stream URL (if new or changed)"
      value={wish.websocketUrl}
      placeholder="wss://streams.example/name"
      onText={(websocketUrl) => onChange({ ...wish, websocketUrl })}
    />
    <Choice
      label="Visible to (if new)"
      chosen={wish.visibility}
      from={visibilities}
      onChoose={(visibility) => onChange({ ...wish, visibility })}
    />
    <button aria-disabled={isBusy}>Check</button>
    <button type="button" onClick={onDiscard}>
      Discard
    </button>
  </form>
)

const onceKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join("")

/** What the platform said of a wish: it holds for that one alone. */
type Judged = {
  readonly wish: Wish
  readonly checked: StackCheck
  readonly spec: Spec | undefined
  readonly once: string
}

const sizeOf = (bytes: number): string => (bytes < 1024 ? `${bytes} bytes` : `${Math.ceil(bytes / 1024)} kB`)

export const Draft = ({ ast, onDiscard }: { readonly ast: AstFile; readonly onDiscard: () => void }) => {
  const api = useApi()
  const [wish, setWish] = useState<Wish>({ name: ast.stackName, websocketUrl: "", visibility: "private" })
  const [known, setKnown] = useState<Judged>()
  const [isAsking, setAsking] = useState(false)
  const { error, isBusy, attempt } = useTry()
  // The name may have been changed while the platform was asked.
  const judged = known?.wish === wish ? known : undefined
  const isBreaking = judged?.checked.verdict === "breaking"
  const check = (): Promise<void> =>
    attempt(async () => {
      const [checked, spec] = [await checkAst(api, ast, wish.name), await findSpec(api, wish.name)]
      setKnown({ wish, checked, spec, once: onceKey() })
    })
  const publish = async (): Promise<void> => {
    if (judged === undefined) return
    const { spec, once } = judged
    location.hash = `#/runs/${await startRun(api, ast, { wish, spec, allowBreaking: isBreaking }, once)}`
    onDiscard()
  }
  return (
    <section class="draft" aria-label="Draft">
      <p>
        <b>{brief(ast.fileName, 100)}</b>, {sizeOf(ast.text.length)}
      </p>
      <DraftFields wish={wish} isBusy={isBusy} onChange={setWish} onCheck={check} onDiscard={onDiscard} />
      <Failure error={error} />
      {judged !== undefined && (
        <div role="status">
          <p>
            {judged.checked.version === null
              ? `Nothing is published as ${wish.name} that you can read: this is its first version.`
              : `Compared with version ${judged.checked.version} of ${wish.name}.`}{" "}
            Entities: {brief(judged.checked.schema.entities.map(({ name }) => name).join(", "))}.
          </p>
          {judged.checked.version !== null && <ChangesList {...judged.checked} />}
          {judged.spec === undefined && judged.checked.version !== null ? (
            <p class="note care">Another stack has this name. Choose another name.</p>
          ) : (
            <button type="button" onClick={() => setAsking(true)}>
              Publish…
            </button>
          )}
        </div>
      )}
      {isAsking && judged !== undefined && (
        <Confirm
          title={`Publish ${brief(ast.fileName, 60)} as ${wish.name}?`}
          verb={isBreaking ? "Publish and break readers" : "Publish"}
          isEnd={isBreaking}
          onConfirm={publish}
          onClose={() => setAsking(false)}
        >
          {isBreaking && <p>Readers that use what was removed or changed stop working:</p>}
          {judged.checked.version !== null && (
            <ChangesList
              {...judged.checked}
              changes={judged.checked.changes.filter((one) => !isBreaking || one.breaking)}
            />
          )}
          <p>
            {judged.spec === undefined
              ? `A ${wish.visibility} spec is created.`
              : `It becomes the next version of your spec, unless it is the same as the latest. It is visible as before (${judged.spec.visibility}).`}
            {isMoved(wish, judged.spec) && ` Its stream URL becomes ${wish.websocketUrl}.`}
          </p>
        </Confirm>
      )}
    </section>
  )
}
