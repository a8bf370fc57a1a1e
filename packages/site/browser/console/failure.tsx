import { isObject, textOf } from "@svc/common/json-object"
import type { SvcError } from "@svc/client/http"
import { readKey } from "./session.ts"
import { brief } from "./text.ts"
import { mayPass } from "./use-read.ts"

/** The faults that an error names: one of a field, or all of an AST. */
const faultsOf = (details: unknown): readonly string[] => {
  const list: unknown = isObject(details) ? details["faults"] : undefined
  return (Array.isArray(list) ? (list as unknown[]) : [details])
    .map((fault) => [textOf(fault, "path"), textOf(fault, "reason")].filter(Boolean).join(": "))
    .filter((text) => text !== "")
}

/** Whether the service may have done what it was asked, although no response says so. */
export const mayBeDone = (error: SvcError | undefined): boolean =>
  error !== undefined &&
  error.submissionState !== "not_submitted" &&
  (error.status === 0 ? error.retryable : error.status >= 500 && error.code !== "service-unavailable")

const advice = (error: SvcError, isRead: boolean): string => {
  const { status, retryable, retryAfterMs = 0 } = error
  if (status === 401) return readKey() === undefined ? "" : "This tab still keeps the key. Sign out to forget it."
  if (!retryable) return ""
  const seconds = Math.ceil(retryAfterMs / 1000)
  if (seconds === 0) return isRead || mayBeDone(error) ? "" : "Try again later."
  const wait = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`
  return `Wait ${wait}, as the service asks.`
}

/** A hint that names paths or fields is for programs. */
const forPeople = (hint: string): string => (/[/_]|details\./.test(hint) ? "" : hint)

/** What to do then, unless something else is known. */
export const lookFirst = "Nobody can tell whether it was done. Look before you do it again."

const sentence = (text: string): string => (/[^.!?…]$/.test(text) ? `${brief(text)}.` : brief(text))

type Props = {
  readonly error: SvcError | undefined
  /** Whether it stands in place of a whole view. */
  readonly isWhole?: boolean
  /** Whether it is of a read, which is repeated by itself. */
  readonly isRead?: boolean
}

/** What went wrong, in the service's own words; nothing while nothing did. */
export const Failure = ({ error, isWhole = false, isRead = false }: Props) => {
  if (error === undefined) return null
  // A refused key is refused everywhere: the view says it once.
  if (error.status === 401 && !isWhole && readKey() !== undefined) throw error
  const { status, code, message, hint = "", docs = "", requestId, details } = error
  const name = <code>{brief(code, 60)}</code>
  return (
    <div class="note bad" role="alert">
      <p>
        {[
          message,
          forPeople(hint),
          advice(error, isRead),
          isRead && mayPass(error) ? "It is read again by itself." : "",
        ]
          .filter((text) => text !== "")
          .map(sentence)
          .join(" ")}
      </p>
      <ul>
        {faultsOf(details).map((fault) => (
          <li key={fault}>{brief(fault)}</li>
        ))}
      </ul>
      <p class="muted">
        {status !== 0 && `Status ${status}, `}code{" "}
        {/^https?:/.test(docs) ? (
          <a href={docs} target="_blank" rel="noopener">
            {name}
          </a>
        ) : (
          name
        )}
        {requestId !== "" && (
          <>
            , request <code>{brief(requestId, 60)}</code>
          </>
        )}
      </p>
    </div>
  )
}
