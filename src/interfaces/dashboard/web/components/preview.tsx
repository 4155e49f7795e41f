/**
 * Message preview in a sandboxed frame. A form fills the frame with a document that has its own security
 * headers. Each content has a new frame, so that the browser's back button skips them.
 */
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { hasDarkStyles, inDarkMode } from '../labels/dark-styles.ts'
import { Button } from './controls.tsx'

/** `dark` shows the dark styles of the message, or else inverts its colours, as some mail programs do. */
export type PreviewLook = 'desktop' | 'phone' | 'dark'

interface PreviewProps {
  html: string
  title: string
  look?: PreviewLook
}

export function Preview({ html, title, look = 'desktop' }: PreviewProps) {
  const [withPictures, setPictures] = useState(false)
  const hasPictures = /<img\b[^>]*\bsrc\s*=\s*["']?https?:|url\(\s*["']?https?:/i.test(html)
  return (
    <>
      {hasPictures && !withPictures && (
        <div class="filters">
          <span class="quiet small grow">Remote images are blocked to protect your privacy.</span>
          <Button small onClick={() => setPictures(true)}>
            Load images
          </Button>
        </div>
      )}
      <Frame
        key={`${withPictures} ${look} ${html}`}
        html={html}
        title={title}
        look={look}
        withPictures={withPictures}
      />
    </>
  )
}

function classOf(look: PreviewLook, html: string): string {
  if (look === 'dark') return hasDarkStyles(html) ? '' : ' letter-inverted'
  return look === 'phone' ? ' letter-phone' : ''
}

type FrameProps = Required<PreviewProps> & { withPictures: boolean }

function Frame({ html, title, look, withPictures }: FrameProps) {
  const name = useId()
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current!.submit(), [])
  return (
    <>
      <form
        ref={form}
        hidden
        method="post"
        enctype="text/plain"
        action={`/dashboard/preview${withPictures ? '?pictures=1' : ''}`}
        target={name}
      >
        <textarea name="html" aria-label={title} value={look === 'dark' ? inDarkMode(html) : html} readOnly />
      </form>
      <iframe
        class={`letter${classOf(look, html)}`}
        name={name}
        title={title}
        sandbox=""
        referrerpolicy="no-referrer"
      />
    </>
  )
}
