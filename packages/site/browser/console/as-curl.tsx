import { CodeBox } from "../live/copy-button.tsx"
import { shellWord, visibleJson } from "@svc/common/foreign-text"
import { type Asked, useApi } from "./api.ts"

const curlOf = (base: string, { method = "GET", path, body, json, isStream = false }: Asked): string => {
  const words = [
    isStream ? "curl -sSN -H 'Accept: text/event-stream'" : "curl -sS",
    ...(method === "GET" || (method === "POST" && (body ?? json) !== undefined) ? [] : [`-X ${method}`]),
    shellWord(base + path),
    '-H "Authorization: Bearer $SVC_API_KEY"',
    ...(body === undefined ? [] : [`--json ${shellWord(visibleJson(JSON.stringify(body)))}`]),
    ...(json === undefined ? [] : ["--json @-"]),
  ]
  return (json === undefined ? "" : `${json} | `) + words.join(" ")
}

type Props = { readonly requests: readonly Asked[] }

/** The requests behind a view. A request's `json` is here a command that prints its body. */
export const AsCurl = ({ requests }: Props) => {
  const { base } = useApi()
  return (
    <details class="as-curl">
      <summary>As curl</summary>
      <CodeBox text={requests.map((one) => curlOf(base, one)).join("\n")} of="the commands" />
    </details>
  )
}
