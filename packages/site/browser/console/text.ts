import { withoutUnseen } from "@svc/common/foreign-text"

const most = 600

/** The beginning of a text that others wrote, so that it can't push the page away or turn it around. */
export const brief = (text: string, length = most): string =>
  withoutUnseen(text.length <= length ? text : `${text.slice(0, length)}…`)

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
/** A time of the API for a reader; an em dash for none. */
export const when = (time: string | null | undefined): string =>
  time == null
    ? "–"
    : local
        .formatToParts(new Date(time))
        // A line may break before the time, never before its "AM".
        .map(({ value }, index, parts) =>
          parts[index + 1]?.type === "dayPeriod" ? value.replace(" ", "\u00a0") : value,
        )
        .join("")
