import { createPlatform, type Diff, type StackVersions } from "@svc/client"
import { useEffect, useState } from "preact/hooks"

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
      <div class="table" tabIndex={0} role="region" aria-label="Versions">
        <table>
          <thead>
            <tr>
              <th>Version</th>
              <th>Published</th>
              <th>Against the one before</th>
              <th>Changes</th>
              {hasMessages && <th>Message</th>}
            </tr>
          </thead>
          <tbody>
            {read.versions.map(({ version, published_at: at, verdict, changes, message, current }) => (
              <tr key={version}>
                <td>
                  {version}
                  {current && " (current)"}
                </td>
                <td data-label="Published">{at.slice(0, 10)}</td>
                <td data-label="Against the one before">{verdict}</td>
                <td data-label="Changes">{changes}</td>
                {hasMessages && <td data-label="Message">{message}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
