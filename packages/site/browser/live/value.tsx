import { createElement } from "preact"
import { CopyButton } from "./copy-button.tsx"
import { show } from "./values.ts"

type Props = {
  readonly path: string
  readonly value: unknown
  readonly most?: number | undefined
  readonly href?: string | undefined
}

/** A record's value as text, with its whole at hand where only a part is shown. */
export const Value = ({ path, value, most = 16, href }: Props) => {
  const { text, full, time } = show(path, value, most)
  if (time !== undefined)
    return (
      <time dateTime={time} title={time}>
        {text}
      </time>
    )
  if (full === undefined && href === undefined) return <>{text}</>
  const title = full?.slice(0, 300)
  const shown = createElement(href === undefined ? "span" : "a", { href, title }, text)
  if (full === undefined) return shown
  return (
    <span class="long">
      {shown}
      <CopyButton text={full} of={path} />
    </span>
  )
}
