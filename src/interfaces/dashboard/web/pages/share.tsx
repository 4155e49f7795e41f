/** Creates a share link of an email, which shows it to whoever has the link. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { Choose } from '../components/controls.tsx'
import { FormDialog, ShownOnce } from '../components/dialog.tsx'
import { Time } from '../components/show.tsx'

const DURATIONS = [
  ['1 hour', '1 hour'],
  ['24 hours', '24 hours'],
  ['48 hours', '48 hours'],
] as const

interface ShareLink {
  url: string
  expires_at: string
}

export function ShareDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [lasts, setLasts] = useState('24 hours')
  const [link, setLink] = useState<ShareLink>()
  if (link)
    return (
      <ShownOnce title="Share link" what="link" secret={link.url} act="Done" onClose={onClose}>
        <p>
          It expires on <Time at={link.expires_at} />.
        </p>
      </ShownOnce>
    )
  return (
    <FormDialog
      title="Share email"
      act="Create link"
      onClose={onClose}
      onSubmit={async () => setLink(await call('POST', `/emails/${id}/share`, { expires_in: lasts }))}
    >
      {error => (
        <>
          <p>Whoever has the link can read the email and its attachments without signing in.</p>
          <Choose
            label="The link works for"
            value={lasts}
            options={DURATIONS}
            onValue={setLasts}
            fault={error?.of('expires_in')}
          />
        </>
      )}
    </FormDialog>
  )
}
