/** Texts of the OpenAPI document: code between backticks, and examples. */

import { CopyButton } from '../components/controls.tsx'

/** The document uses no other Markdown. */
export function Text({ children = '' }: { children: string | undefined }) {
  return <>{children.split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>
}

/** An example can be scrolled, and therefore has to be reached with the keyboard. */
export function Example({ children }: { children: string }) {
  return (
    <div class="example">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus */}
      <pre tabIndex={0}>{children}</pre>
      <CopyButton text={children} label="Copy example" />
    </div>
  )
}
