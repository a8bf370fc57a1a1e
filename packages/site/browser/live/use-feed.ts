import { useEffect, useState } from "preact/hooks"
import { type Feed, type FeedOptions, startFeed } from "./feed.ts"

/** A feed that lives as long as its options; `tick` grows with what it has to show. */
export const useFeed = (options: FeedOptions | undefined) => {
  const [feed, setFeed] = useState<Feed>()
  const [tick, setTick] = useState(0)
  useEffect(() => {
    if (options === undefined) return undefined
    const started = startFeed(options, () => setTick((count) => count + 1))
    setFeed(started)
    return () => {
      started.stop()
      setFeed(undefined)
    }
  }, [JSON.stringify(options)])
  return { feed, tick }
}
