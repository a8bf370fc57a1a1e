import type { Usage } from "@svc/client"
import { useState } from "preact/hooks"
import { AsCurl } from "./as-curl.tsx"
import { Failure } from "./failure.tsx"
import { NotRead } from "./list-table.tsx"
import { Table } from "../table.tsx"
import { brief } from "./text.ts"
import { UsageChart } from "./usage-chart.tsx"
import { useRead } from "./use-read.ts"

const choices = [7, 30, 90]

/** What each key did, by UTC day. */
export const UsageView = () => {
  const [days, setDays] = useState(30)
  const path = `/api/usage?days=${days}`
  const { body: usage, error, again } = useRead<Usage>(path)
  const rows = (usage?.days ?? []).toReversed().flatMap(({ date, keys }) =>
    keys.map(({ id, name, requests, refused, sessions }, index) => [
      index === 0 ? date : "",
      <>
        {brief(name, 64)} <span class="muted">{id}</span>
      </>,
      requests,
      refused,
      sessions,
    ]),
  )
  return (
    <>
      <div class="controls">
        <label>
          Days{" "}
          <select value={days} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
            {choices.map((count) => (
              <option key={count}>{count}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={again}>
          Read again
        </button>
      </div>
      <Failure error={error} />
      {usage === undefined && error === undefined && <NotRead />}
      {usage !== undefined && <UsageChart usage={usage} />}
      {usage !== undefined && (
        <Table
          label="Usage"
          heads={["Day (UTC)", "Key", "Requests", "Refused", "Sessions"]}
          rows={rows}
          empty="No requests in these days."
        />
      )}
      <p class="muted">Counts are up to 10 seconds late. Refused: responses with 403 or 429.</p>
      <AsCurl requests={[{ path }]} />
    </>
  )
}
