import {
  type ConnectionState,
  createPlatform,
  type RegistryChange,
  type RegistryChanges,
  type Spec,
  type Stack,
} from "@svc/client"
import type { SvcError } from "@svc/client/http"
import { useEffect, useState } from "preact/hooks"
import { Connection, goesOn } from "../connection.tsx"
import { root } from "../dom.ts"
import { unexpected, useApi } from "./api.ts"
import { AsCurl } from "./as-curl.tsx"
import { Failure } from "./failure.tsx"
import { Table } from "../table.tsx"
import { brief, when } from "./text.ts"
import { readKey } from "./session.ts"
import { useList, useRead } from "./use-read.ts"

const mostKept = 200

/** Follows the registry: the newest changes first, at most 200. `error`: why it goes on no more. */
const useChanges = () => {
  const { base } = useApi()
  const { body: first, error: readError } = useRead<RegistryChanges>("/api/registry/changes?limit=100")
  const [newer, setNewer] = useState<readonly RegistryChange[]>([])
  const [connection, setConnection] = useState<ConnectionState["kind"]>("connecting")
  const [changedAt, setChangedAt] = useState<number>()
  const [error, setError] = useState<SvcError>()
  useEffect(() => {
    if (first === undefined) return undefined
    const leaving = new AbortController()
    const { signal } = leaving
    const key = readKey()
    const { registry } = createPlatform({ apiUrl: base, ...(key !== undefined && { key }) })
    const onState = ({ kind }: ConnectionState): void => void (kind === "connecting" || setConnection(kind))
    const follow = async (): Promise<void> => {
      for await (const change of registry.changes({ after: first.next, signal, onState })) {
        setChangedAt(Date.now())
        setNewer((known) => [change, ...known].slice(0, mostKept))
      }
    }
    follow().catch((thrown: unknown) => setError(unexpected(thrown)))
    return () => leaving.abort()
  }, [first])
  const isAway = readError?.retryable === true
  return {
    changes: first && [...newer, ...first.changes.toReversed()].slice(0, mostKept),
    connection: isAway ? "away" : connection,
    changedAt,
    error: isAway ? error : (readError ?? error),
  } as const
}

const textOf = ({ kind, version, previous_version: before, message, successor }: RegistryChange): string =>
  [
    kind,
    version === undefined ? "" : `version ${version}${before === undefined ? "" : `, was ${before}`}`,
    message === undefined ? "" : `“${brief(message, 200)}”`,
    successor === undefined ? "" : `use ${successor}`,
  ]
    .filter((part) => part !== "")
    .join(", ")

export const ChangesView = () => {
  const { changes, connection, changedAt, error } = useChanges()
  const specs = useList<Spec>("/api/specs?limit=100")
  const { body: stacks } = useRead<readonly Stack[]>("/api/registry?limit=100")
  /** A public stack has a page, and what is the account's own or shared with it a view here. */
  const linked = (stack: string) => {
    const isIt = ({ name }: { readonly name: string }): boolean => name === stack
    const spec = specs.items?.find(isIt)
    const text = brief(stack, 64)
    if (stacks?.find(isIt)?.visibility === "public")
      return <a href={`${root}/stacks/${encodeURIComponent(stack)}`}>{text}</a>
    return spec === undefined ? <span class="written">{text}</span> : <a href={`#/specs/${spec.id}`}>{text}</a>
  }
  const rows = (changes ?? []).map((change) => [
    when(change.at),
    linked(change.stack),
    <span class="written">{textOf(change)}</span>,
    change.verdict === "breaking" ? <span class="badge warn">breaking</span> : (change.verdict ?? ""),
  ])
  return (
    <>
      <Failure error={error} />
      {error === undefined && (
        <p class="live-status">
          <Connection
            kind={connection}
            changedAt={changedAt}
            text={connection === "away" ? `The platform API isn't reachable or asks to wait. ${goesOn}` : ""}
          />
        </p>
      )}
      {changes !== undefined && (
        <Table
          label="Changes"
          heads={["When", "Stack", "Change", "For readers"]}
          rows={rows}
          empty="The registry has not changed yet."
        />
      )}
      <AsCurl
        requests={[{ path: "/api/registry/changes?limit=100" }, { path: "/api/registry/changes", isStream: true }]}
      />
    </>
  )
}
