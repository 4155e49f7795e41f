/**
 * Message preview in a sandboxed frame. A form fills the frame with a document that has its own security
 * headers. Each content has a new frame, so that the browser's back button skips them.
 */
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from './controls.tsx'

interface PreviewProps {
  html: string
  title: string
}

export function Preview({ html, title }: PreviewProps) {
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
      <Frame key={`${withPictures} ${html}`} html={html} title={title} withPictures={withPictures} />
    </>
  )
}

function Frame({ html, title, withPictures }: PreviewProps & { withPictures: boolean }) {
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
        <textarea name="html" aria-label={title} value={html} readOnly />
      </form>
      <iframe class="letter" name={name} title={title} sandbox="" referrerpolicy="no-referrer" />
    </>
  )
}
