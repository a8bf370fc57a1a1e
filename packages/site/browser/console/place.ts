// Which view is open: the hash of the page's URL, such as #/specs/12. Nothing secret is ever in it.
import { useEffect, useState } from "preact/hooks"

/** A view's name, and the record that it shows. */
export type Place = { readonly view: string; readonly id: number | undefined }

const placeOf = (hash: string): Place => {
  // Other hashes are places in the page's text.
  if (!hash.startsWith("#/")) return { view: "account", id: undefined }
  const [, view = "", id] = /^#\/([a-z]+)(?:\/([1-9]\d{0,9}))?$/.exec(hash) ?? []
  return { view, id: id === undefined ? undefined : Number(id) }
}

export const usePlace = (): Place => {
  const [place, setPlace] = useState(() => placeOf(location.hash))
  useEffect(() => {
    const follow = (): void => {
      if (location.hash === "" || location.hash.startsWith("#/")) setPlace(placeOf(location.hash))
    }
    addEventListener("hashchange", follow)
    return () => removeEventListener("hashchange", follow)
  }, [])
  return place
}
