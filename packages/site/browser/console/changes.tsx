import type { RegistryChange, Spec } from "@svc/client"
import { Connection, goesOn } from "../connection.tsx"
import { root } from "../dom.ts"
import { AsCurl } from "./as-curl.tsx"
import { Failure } from "./failure.tsx"
import { Table } from "../table.tsx"
import { brief, when } from "./text.ts"
import { useChanges } from "./use-changes.ts"
import { useList } from "./use-read.ts"

const textOf = ({ kind, version, previous_version: before, message, successor }: RegistryChange): string =>
  [
    kind.replaceAll("_", " "),
    version === undefined ? "" : `version ${version}${before === undefined ? "" : `, before ${before}`}`,
    message === undefined ? "" : `“${brief(message, 200)}”`,
    successor === undefined ? "" : `use ${successor}`,
  ]
    .filter((part) => part !== "")
    .join(", ")

/** What happens in the registry, as it happens. */
export const ChangesView = () => {
  const { changes, connection, changedAt, error } = useChanges()
  const specs = useList<Spec>("/api/specs?limit=100")
  /** A public stack has a page; what else the account can read has a view here. */
  const linkTo = (stack: string): string => {
    const spec = specs.items?.find(({ name, visibility }) => name === stack && visibility !== "public")
    return spec === undefined ? `${root}/stacks/${encodeURIComponent(stack)}` : `#/specs/${spec.id}`
  }
  const rows = (changes ?? []).map((change) => [
    when(change.at),
    <a href={linkTo(change.stack)}>{brief(change.stack, 64)}</a>,
    textOf(change),
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
