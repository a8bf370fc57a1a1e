import { useEffect, useState } from "preact/hooks"
import { noteInAddress } from "../address.ts"

export type Address = ReturnType<typeof useAddress>

/** Follows what a reader chose, which the page's URL keeps. */
export const useAddress = () => {
  const [query, setQuery] = useState(location.search)
  const follow = (): void => setQuery(location.search)
  useEffect(() => {
    addEventListener("popstate", follow)
    return () => removeEventListener("popstate", follow)
  }, [])
  const chosen = new URLSearchParams(query)
  return {
    /** Empty: nothing was chosen. */
    chosen: (name: "view" | "key" | "chart" | "columns"): string => chosen.get(name) ?? "",
    choose: (...choice: Parameters<typeof noteInAddress>): void => {
      noteInAddress(...choice)
      follow()
    },
  }
}
