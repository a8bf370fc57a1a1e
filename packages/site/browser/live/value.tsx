import { CopyButton } from "./copy-button.tsx"
import { show } from "./values.ts"

type Props = {
  readonly path: string
  readonly value: unknown
  /** Characters that are shown. */ readonly most?: number | undefined
}

/** A record's value as text, with its whole at hand where only a part is shown. */
export const Value = ({ path, value, most = 16 }: Props) => {
  const { text, full, time } = show(path, value, most)
  if (time !== undefined)
    return (
      <time dateTime={time} title={time}>
        {text}
      </time>
    )
  if (full === undefined) return <>{text}</>
  return (
    <span class="long">
      <span title={full.slice(0, 300)}>{text}</span>
      <CopyButton text={full} of={path} />
    </span>
  )
}
