import type { Diff } from "@svc/client"
import { brief } from "../text.ts"

const most = 200

/** What a version changes for readers: the verdict in a sentence, then each change. */
export const ChangesList = ({ verdict, bump, changes }: Pick<Diff, "verdict" | "bump" | "changes">) => (
  <>
    <p>
      <span class={verdict === "breaking" ? "badge warn" : "badge"}>{verdict === "none" ? "no change" : verdict}</span>
      {bump !== "none" && <span class="muted">a {bump} version</span>}
    </p>
    <ul>
      {changes.slice(0, most).map(({ text, breaking }, index) => (
        <li key={index}>
          {breaking && <span class="badge warn">breaking</span>}
          {brief(text, 300)}
        </li>
      ))}
    </ul>
    {changes.length > most && <p class="muted">And {changes.length - most} more.</p>}
  </>
)
