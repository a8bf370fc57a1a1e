import { createPlatform, type Diff, type StackVersions } from "@svc/client"
import { useEffect, useState } from "preact/hooks"
import { Table } from "../table.tsx"

type Read = { readonly versions: StackVersions; readonly changes: Diff["changes"] }

/** What a stack was, and what the newest version changed. Shows nothing while the API is away: the rest of the page is there. */
export const Versions = ({ api, stack }: { readonly api: string; readonly stack: string }) => {
  const [read, setRead] = useState<Read>()
  useEffect(() => {
    const { registry } = createPlatform({ apiUrl: api })
    const load = async (): Promise<void> => {
      const versions = await registry.versions(stack)
      setRead({ versions, changes: versions.length > 1 ? (await registry.diff(stack)).changes : [] })
    }
    load().catch(() => {})
  }, [])
  if (read === undefined || read.versions.length === 0) return null
  const hasMessages = read.versions.some(({ message }) => message !== undefined)
  return (
    <>
      <h2 id="frame.versions">Versions</h2>
      <Table
        label="Versions"
        heads={["Version", "Published", "Against the one before", "Changes", ...(hasMessages ? ["Message"] : [])]}
        rows={read.versions.map(({ version, published_at: at, verdict, changes, message, current }) => [
          `${version}${current ? " (current)" : ""}`,
          at.slice(0, 10),
          verdict,
          changes,
          ...(hasMessages ? [message] : []),
        ])}
        empty=""
      />
      <ul>
        {read.changes.map(({ text, breaking }) => (
          <li key={text}>
            {breaking && <span class="badge warn">breaking</span>}
            {text}
          </li>
        ))}
      </ul>
    </>
  )
}
