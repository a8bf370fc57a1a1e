import type { MintedKey } from "@svc/client"
import { useState } from "preact/hooks"
import { useApi } from "../api.ts"
import { AsCurl } from "../as-curl.tsx"
import { ListTable } from "../list-table.tsx"
import { brief, when } from "../text.ts"
import { useList, useTry } from "../use-read.ts"
import { ConfirmKey, type Action, actionsFor, type ApiKey, successorOf, verbs } from "./confirm-key.tsx"
import { MintForm, mintRequest } from "./mint-form.tsx"

type Pending = { readonly action: Action; readonly apiKey: ApiKey }

const StatusOf = ({ apiKey, keys }: { readonly apiKey: ApiKey; readonly keys: readonly ApiKey[] }) => (
  <>
    <span class={apiKey.status === "active" ? "badge" : "badge warn"}>{apiKey.status}</span>
    {apiKey.current && <span class="badge">this console</span>}
    {apiKey.replaced_by !== undefined && (
      <span class="muted">replaced by {successorOf(apiKey, keys)?.key_hint ?? "a key that isn't listed"}</span>
    )}
  </>
)

type Props = {
  /** Shows a new key, whether or not this view is still open. `replacesOwn`: it replaces the console's key. */
  readonly onMade: (made: MintedKey, replacesOwn: boolean) => void
  /** Says that the console's own key has ended. */
  readonly onEnded: (note: string) => void
}

export const KeysView = ({ onMade, onEnded }: Props) => {
  const { ask, keysPath } = useApi()
  const list = useList<ApiKey>(`${keysPath}?limit=100`)
  const [pending, setPending] = useState<Pending>()
  const enabling = useTry()
  const choose = (action: Action, apiKey: ApiKey): void => {
    if (action !== "enable") {
      // What the dialog says of its use may have changed since the list was read.
      list.again()
      return setPending({ action, apiKey })
    }
    void enabling.attempt(async () => {
      await ask({ method: "POST", path: `${keysPath}/${apiKey.id}/enable` })
      list.again()
    })
  }
  const keys = list.items ?? []
  const rows = keys.map((key) => [
    <>
      <b>{brief(key.name, 64)}</b> <code>{key.key_hint}</code>
    </>,
    <>
      {key.key_class}
      {key.origin_allowlist !== null && <div class="muted">{brief(key.origin_allowlist.join(", "), 120)}</div>}
    </>,
    <StatusOf apiKey={key} keys={keys} />,
    when(key.created_at),
    when(key.last_used_at),
    key.expires_at === null ? "never" : when(key.expires_at),
    <div class="actions">
      {actionsFor(key, keys).map((action) => (
        <button
          // One button, which keeps the focus when it becomes the other.
          key={action === "enable" ? "disable" : action}
          type="button"
          aria-label={`${verbs[action]} ${key.key_hint}`}
          onClick={() => choose(action, key)}
        >
          {verbs[action]}
        </button>
      ))}
    </div>,
  ])
  const own = keys.find(({ current }) => current)
  return (
    <>
      {own?.replaced_by !== undefined && (
        <p class="note care">
          This console uses a key that was replaced. It can't change keys, and it expires {when(own.expires_at)}. Sign
          in with its successor.
        </p>
      )}
      <ListTable
        list={{ ...list, error: list.error ?? enabling.error }}
        label="Keys"
        heads={["Key", "Class", "Status", "Created", "Last used", "Expires", "Actions"]}
        rows={rows}
        ids={keys.map(({ id }) => String(id))}
        empty="No keys yet."
      />
      {/* Not before the list, which would push it away. */}
      {(list.items ?? list.error) !== undefined && own?.replaced_by === undefined && (
        <>
          <h3>Mint a key</h3>
          <MintForm onMade={(made) => onMade(made, false)} onLost={list.again} />
        </>
      )}
      {pending !== undefined && (
        <ConfirmKey
          action={pending.action}
          apiKey={keys.find(({ id }) => id === pending.apiKey.id) ?? pending.apiKey}
          keys={keys}
          onMade={(made) => onMade(made, pending.apiKey.current)}
          onEnded={onEnded}
          onSettled={list.again}
          onClose={() => setPending(undefined)}
        />
      )}
      <AsCurl
        requests={[
          { path: `${keysPath}?limit=100` },
          mintRequest(keysPath, { kind: "secret", name: "worker", origin: "", days: "" }),
          mintRequest(keysPath, { kind: "publishable", name: "page", origin: "https://app.example.com", days: "" }),
          { method: "POST", path: `${keysPath}/ID/rotate`, body: { overlap_seconds: 3600 } },
          { method: "POST", path: `${keysPath}/ID/disable` },
          { method: "POST", path: `${keysPath}/ID/enable` },
          { method: "DELETE", path: `${keysPath}/ID` },
        ]}
      />
    </>
  )
}
