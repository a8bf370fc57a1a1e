import { CopyButton } from "./copy-button.tsx"

/** Text in a box that scrolls, with a button that copies it. @param of what the button copies */
export const CodeBox = ({ text, of }: { readonly text: string; readonly of: string }) => (
  <div class="code">
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} of={of} />
  </div>
)
