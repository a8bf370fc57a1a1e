import { SvcError } from "@svc/client"
import { useEffect, useState } from "preact/hooks"
import { withoutUnseen } from "@svc/common/foreign-text"
import { goesOn } from "../connection.tsx"
import { root } from "../dom.ts"
import { partNames } from "./away.ts"
import { Chart } from "./chart.tsx"
import { ColumnsMenu, columnsOf, RecordsTable } from "./records-table.tsx"
import type { Feed } from "./feed.ts"
import { KeyForm } from "./key-form.tsx"
import { SameInTabs } from "./same-in-tabs.tsx"
import { isOfOne, type Place, readSource, type Source, UnreadableSource } from "./stack-source.ts"
import { Status } from "./status.tsx"
import { type Address, useAddress } from "./use-address.ts"
import { useFeed } from "./use-feed.ts"
import { nextViewerKey } from "./viewer-key.ts"
import { ViewForm } from "./view-form.tsx"

type RecordsProps = {
  readonly feed: Feed
  readonly tick: number
  readonly base: string
  readonly isSmall: boolean
  readonly address: Address
  /** Where a key of the view is shown alone. */
  readonly linkOf: (key: string) => string | undefined
}

const mostAsked = 100
const smallColumns = 4

/** The records and their chart, which can be held. */
const Records = ({ feed, tick, base, isSmall, address, linkOf }: RecordsProps) => {
  const [held, hold] = useState<ReadonlyMap<string, unknown>>()
  const records = held ?? feed.records()
  const { all, first } = columnsOf(records, isSmall ? smallColumns : undefined)
  const chosen = isSmall ? "" : address.chosen("columns")
  const columns = chosen === "" ? first : all.filter((path) => chosen.split(",").includes(path))
  // A comma alone: none is shown.
  const chooseColumns = (shown: readonly string[]): void => address.choose({ columns: shown.join(",") || "," })
  return (
    <>
      <div class="controls">
        <button type="button" onClick={() => hold(held === undefined ? new Map(feed.records()) : undefined)}>
          {held === undefined ? "Pause" : "Resume"}
        </button>
        {!isSmall && <ColumnsMenu all={all} shown={columns} onChange={chooseColumns} />}
        <Status
          feed={feed}
          isPaused={held !== undefined}
          base={base}
          isKeyed={!isSmall && address.chosen("key") !== ""}
        />
      </div>
      <div class="watched">
        <Chart feed={feed} isPaused={held !== undefined} tick={tick} address={address} />
        <RecordsTable feed={feed} records={records} columns={columns} isSmall={isSmall} linkOf={linkOf} />
      </div>
    </>
  )
}

type Props = { readonly place: Place; readonly isSmall: boolean; readonly take: number }

/** Live records of a stack, as they come. `isSmall`: one view, without choices. */
export const Panel = ({ place, isSmall, take }: Props) => {
  const { api, base, stack, stream } = place
  const [source, setSource] = useState<Source | UnreadableSource | SvcError | "missing">()
  const [apiKey, setApiKey] = useState(place.viewerKey)
  const address = useAddress()
  useEffect(() => {
    const leaving = new AbortController()
    const read = async (): Promise<void> => {
      const found = await readSource(place, setSource, leaving.signal)
      if (leaving.signal.aborted) return
      setSource(found ?? "missing")
    }
    read().catch(setSource)
    return () => leaving.abort()
  }, [])

  const known = typeof source === "object" && !(source instanceof Error) ? source : undefined
  const asked = isSmall ? "" : address.chosen("view")
  const chosen = known?.views.find(({ id }) => id === asked)
  const view = chosen ?? known?.views.find(({ id }) => id === (place.view ?? known.first))
  const recordKey = view?.needsKey === true ? address.chosen("key") : ""
  const isHere = known !== undefined && URL.parse(known.websocketUrl)?.origin === stream
  const isReady = isHere && view !== undefined && apiKey !== "" && !(view.needsKey && recordKey === "")
  const watching = isReady ? { view: view.id, recordKey, api, websocketUrl: known.websocketUrl, take } : undefined
  const { feed, tick } = useFeed(watching && { ...watching, apiKey })
  const isKeyGone = feed?.state().kind === "key-gone"
  useEffect(() => {
    if (!isKeyGone || place.viewerKey === "") return undefined
    const leaving = new AbortController()
    void nextViewerKey(apiKey, leaving.signal).then((key) => leaving.signal.aborted || setApiKey(key))
    return () => leaving.abort()
  }, [isKeyGone])

  if (source === undefined) return <p class="muted">Connecting…</p>
  if (source === "missing") return <p class="muted">The registry has no stack {stack}.</p>
  if (source instanceof SvcError)
    return (
      <p role="status">
        {source.status >= 400 && source.status < 500 ? source.message : partNames.platform} {goesOn}
      </p>
    )
  if (source instanceof UnreadableSource)
    return (
      <p role="status">
        This page can't show the registry's response about {stack}. Reload the page. If it fails again, tell the
        operator
        {source.message === "" ? (
          "."
        ) : (
          <>
            {" "}
            the request's id: <code>{source.message}</code>
          </>
        )}
      </p>
    )
  if (!isHere) return <p class="muted">The stream of this stack is elsewhere: {source.websocketUrl}</p>
  if (apiKey === "" || (isKeyGone && place.viewerKey === ""))
    return <KeyForm onKey={setApiKey} fault={isKeyGone ? "This key no longer works. Paste another one." : ""} />
  const linkOf = (key: string): string | undefined => {
    const alone =
      view?.needsKey === false ? source.views.find((one) => one.needsKey && isOfOne(one.id, view.id)) : undefined
    return alone && `${root}/stacks/${stack}.html?${new URLSearchParams({ view: alone.id, key })}`
  }
  return (
    <>
      {asked !== "" && chosen === undefined && (
        <p role="status">
          This stack has no view {withoutUnseen(asked.slice(0, mostAsked))}. This is another one of it.
        </p>
      )}
      {!isSmall && view !== undefined && (
        <ViewForm views={source.views} view={view} recordKey={recordKey} onChoose={address.choose} />
      )}
      {feed !== undefined && (
        <Records feed={feed} tick={tick} base={base} isSmall={isSmall} address={address} linkOf={linkOf} />
      )}
      {/* Not before the first records, which would push it away. */}
      {!isSmall && watching !== undefined && feed?.isSettled() === true && (
        <SameInTabs watching={{ ...watching, base, stack }} />
      )}
    </>
  )
}
