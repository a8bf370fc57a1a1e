import type { Keys, Profile } from "@svc/client"
import { root } from "../dom.ts"
import { useApi } from "./api.ts"
import { AsCurl } from "./as-curl.tsx"
import { Failure } from "./failure.tsx"
import { NotRead } from "./list-table.tsx"
import { TokenLimits } from "./token-limits.tsx"
import { brief, when } from "./text.ts"
import { type Reading, useRead } from "./use-read.ts"

const registryPath = "/api/registry?limit=1"

/** A policy and the rest of a limit, as the response's headers say them: `"default";q=1200;w=60`, `"default";r=1199;t=1`. */
const limitText = (header: ((name: string) => string | null) | undefined): string => {
  const [, quota, seconds] = /q=(\d+);w=(\d+)/.exec(header?.("ratelimit-policy") ?? "") ?? []
  const [, left] = /r=(\d+)/.exec(header?.("ratelimit") ?? "") ?? []
  return quota === undefined
    ? "none"
    : `${Number(quota).toLocaleString()} in ${seconds} s, ${Number(left).toLocaleString()} left now`
}

type Row = readonly [name: string, value: string]

const Facts = ({ rows }: { readonly rows: readonly Row[] }) => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{brief(value, 200)}</dd>
      </div>
    ))}
  </dl>
)

export const AccountView = ({ profile }: { readonly profile: Reading<Profile> }) => {
  const { isPerson, keysPath } = useApi()
  const keysAt = `${keysPath}?limit=100`
  const keys = useRead<Keys>(keysAt)
  const registry = useRead<readonly unknown[]>(registryPath)
  const error = keys.error ?? profile.error ?? registry.error
  // The registry responds to a refused key as to anybody, with the limits of anybody.
  const isRefused = error?.status === 401 || error?.status === 403 || registry.header?.("x-auth-ignored") != null
  const current = keys.body?.find((key) => key.current)
  const active = keys.body?.filter(({ status }) => status === "active") ?? []
  const replaced = active.filter(({ replaced_by: next }) => next !== undefined).length
  // Replaced ones have a limit of their own.
  const counts = `${active.length - replaced}${replaced === 0 ? "" : `, and ${replaced} replaced`}`
  const who: readonly Row[] = isPerson
    ? [["Account", "a person"]]
    : profile.body === undefined
      ? []
      : [
          ["Account", `the agent ${profile.body.display_name}`],
          ["Slug", profile.body.slug],
          ["Status", profile.body.status],
          ["Since", when(profile.body.created_at)],
          ["Last seen", when(profile.body.last_seen_at)],
        ]
  const own: readonly Row[] =
    current === undefined
      ? []
      : [
          ["This key", `${current.key_hint} (${current.name})`],
          ["Key created", when(current.created_at)],
          ["Key expires", current.expires_at === null ? "never" : when(current.expires_at)],
          ["Active keys", counts],
        ]
  return (
    <>
      <Failure error={error} isRead />
      {who.length + own.length === 0 && error === undefined && <NotRead />}
      <Facts rows={[...who, ...own]} />
      {!isRefused && (
        <>
          <h3>Limits in force</h3>
          <Facts
            rows={[["Registry reads with this key", registry.header === undefined ? "…" : limitText(registry.header)]]}
          />
          <TokenLimits />
          <p>
            <a href={`${root}/limits.html`}>Limits</a> lists all others.
          </p>
        </>
      )}
      <AsCurl
        requests={[...(isPerson ? [] : [{ path: "/api/agents/me" }]), { path: keysAt }, { path: registryPath }]}
      />
    </>
  )
}
